BEGIN
{
	x = $7;
}
/* expect-error 3: D_SYNTAX syntax error near "5x" */
