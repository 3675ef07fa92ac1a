int twice(int x) { return (2 * x); }
BEGIN { trace(1); }
/* expect-error 1: D_SYNTAX syntax error near "{"; D has no functions */
