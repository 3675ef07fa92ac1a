BEGIN
{
	if (pid) {
		trace(1;
	}
}
/* expect-error 4: D_SYNTAX syntax error near ";" */
