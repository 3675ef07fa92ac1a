BEGIN
{
	x = 1 / 0;
}
/* expect-error 3: D_DIV_ZERO expression contains division by zero */
