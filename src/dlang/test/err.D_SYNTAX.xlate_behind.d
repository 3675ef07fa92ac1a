typedef struct info { int a; int pr_pid; } info_t; BEGIN
{
	x = xlate <info_t *> (arg0);
	y = ;
}
/* expect-error 4: D_SYNTAX syntax error near ";" */
