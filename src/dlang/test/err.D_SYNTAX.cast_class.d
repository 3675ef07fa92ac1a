BEGIN
{
	x = (int static)3;
}
/* expect-error 3: D_SYNTAX syntax error near ")" */
