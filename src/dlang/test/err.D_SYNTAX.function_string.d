string f(string s)
{
	return (s);
}
/* expect-error 2: D_SYNTAX syntax error near "{"; D has no functions */
