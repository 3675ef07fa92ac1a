typedef struct info { int a; int pr_pid; } info_t; translator info_t < int *P > { a = 1; }
BEGIN { trace(1); }
/* expect-error 2: D_SYNTAX syntax error near "BEGIN { trace(1); }" */
