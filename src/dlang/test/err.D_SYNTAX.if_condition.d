BEGIN
{
	if pid { trace(1); }
}
/* expect-error 3: D_SYNTAX syntax error near "pid { trace(1); }" */
