typedef struct info { int a; int pr_pid; } info_t; BEGIN
{
	trace(xlate <info_t *> arg0);
}
/* expect-error 3: D_SYNTAX syntax error near "arg0);" */
