BEGIN
{
	x = 1 # 2;
}
/* expect-error 3: D_SYNTAX syntax error near "#" */
