BEGIN
{
	printf("%@d", 1);
}
/* expect-error 3: D_PRINTF_AGG_CONV %@ conversion requires an aggregation and is not for use with printf( ) */
