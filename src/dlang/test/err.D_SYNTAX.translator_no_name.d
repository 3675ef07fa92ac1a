typedef struct info { int a; int pr_pid; } info_t; translator info_t < int * > { };
/* expect-error 1: D_SYNTAX syntax error near ">" */
