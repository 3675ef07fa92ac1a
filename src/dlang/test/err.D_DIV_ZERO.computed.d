BEGIN
{
	x = pid % (3 - 3);
}
/* expect-error 3: D_DIV_ZERO expression contains division by zero */
