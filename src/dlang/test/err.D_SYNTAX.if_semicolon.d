BEGIN
{
	if (pid)
		trace(1)
}
/* expect-error 5: D_SYNTAX syntax error near "}" */
