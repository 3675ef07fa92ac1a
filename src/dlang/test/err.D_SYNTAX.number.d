BEGIN
{
	x = 5ms;
}
/* expect-error 3: D_SYNTAX syntax error near "5ms" */
