BEGIN
{
	printf("%d", 1, 2);
}
/* expect-error 3: D_PRINTF_ARG_EXTRA printf( ) prototype mismatch: only 1 arguments required by this format string */
