BEGIN
{
	x = 5.001;
}
/* expect-error 3: D_SYNTAX floating-point constants are not permitted: 5.001 ( */
