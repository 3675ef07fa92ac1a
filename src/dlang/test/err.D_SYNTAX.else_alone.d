BEGIN
{
	else trace(1);
}
/* expect-error 3: D_SYNTAX syntax error near "else" */
