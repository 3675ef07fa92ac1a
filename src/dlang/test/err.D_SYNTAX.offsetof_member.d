BEGIN
{
	x = offsetof(int, 3);
}
/* expect-error 3: D_SYNTAX syntax error near "3" */
