BEGIN
{
	printf("");
}
/* expect-error 3: D_PRINTF_FMT_EMPTY printf( ) format string is empty */
