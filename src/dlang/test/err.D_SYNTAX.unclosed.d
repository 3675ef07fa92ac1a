static int f(int x)
{
	return x;
BEGIN { trace(7); }
/* expect-error 2: D_SYNTAX syntax error: the function's "{" has no "}" */
