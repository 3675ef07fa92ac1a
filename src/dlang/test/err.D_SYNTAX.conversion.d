BEGIN
{
	printf("%q", 1);
}
/* expect-error 3: D_SYNTAX format conversion #1 is undefined: %q */
