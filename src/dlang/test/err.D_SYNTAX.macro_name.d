BEGIN
{
	x = $;
}
/* expect-error 3: D_SYNTAX syntax error near "$" */
