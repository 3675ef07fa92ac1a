BEGIN
{
	printf("%q", 1);
}
/* expect-error 3: D_UNKNOWN printf( ) format conversion #1 is undefined: %q */
