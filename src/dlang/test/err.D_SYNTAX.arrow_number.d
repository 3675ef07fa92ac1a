BEGIN
{
	x = y->5;
}
/* expect-error 3: D_SYNTAX syntax error near "5" */
