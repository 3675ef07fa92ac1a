BEGIN
{
	@1a = count();
}
/* expect-error 3: D_SYNTAX syntax error near "@1a" */
