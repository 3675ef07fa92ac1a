struct point { int x; };
extern struct point *f(struct point *p, int n) { return (p); }
/* expect-error 2: D_SYNTAX syntax error near "{"; D has no functions */
