typedef int fn_t(int);
fn_t f { trace(1); }
/* expect-error 2: D_SYNTAX syntax error near "{"; D has no functions */
