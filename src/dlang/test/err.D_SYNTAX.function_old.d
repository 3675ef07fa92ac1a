int f(x)
	int x;
{
	return (x);
}
/* expect-error 1: D_SYNTAX syntax error near "x */
