BEGIN
{
	trace((1 + 2);
	trace(a[1]);
}
/* expect-error 3: D_SYNTAX syntax error near ";" */
