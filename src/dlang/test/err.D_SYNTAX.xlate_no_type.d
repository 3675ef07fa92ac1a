BEGIN
{
	trace(xlate (arg0));
}
/* expect-error 3: D_SYNTAX syntax error near "(" */
