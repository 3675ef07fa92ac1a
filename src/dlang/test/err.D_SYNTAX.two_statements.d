BEGIN
{
	x = 1
	y = 2;
}
/* expect-error 4: D_SYNTAX syntax error near "y = 2;" */
/* expect-why is a ; missing before it? */
