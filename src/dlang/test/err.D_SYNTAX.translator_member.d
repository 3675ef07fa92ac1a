typedef struct info { int a; int pr_pid; } info_t; translator info_t < int *P > {
	a = *P;
	b + 1;
};
/* expect-error 3: D_SYNTAX syntax error near "+" */
