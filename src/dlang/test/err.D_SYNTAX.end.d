BEGIN
{
	trace(1)/* expect-error 4: D_SYNTAX syntax error near end-of-input; the "{" of line 2 has no "}" */
