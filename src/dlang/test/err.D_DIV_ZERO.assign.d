BEGIN
{
	x = 1;
	x /= 0;
}
/* expect-error 4: D_DIV_ZERO expression contains division by zero */
