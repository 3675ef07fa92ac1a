BEGIN { trace(1); }
void f(void)
{
	trace(1);
}
/* expect-error 3: D_SYNTAX syntax error near "{"; D has no functions */
