BEGIN
{
	x = offsetof(3, a);
}
/* expect-error 3: D_SYNTAX syntax error near "3" */
