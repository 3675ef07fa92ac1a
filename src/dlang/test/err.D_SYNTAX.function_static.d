static void f() { }
/* expect-error 1: D_SYNTAX syntax error near "{"; D has no functions */
