BEGIN
{
	while (1) { x++; }
}
/* expect-error 3: D_SYNTAX syntax error near "while" */
