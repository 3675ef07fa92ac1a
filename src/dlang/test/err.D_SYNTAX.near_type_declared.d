typedef int point_t;
self pointt_t p;
BEGIN {}
/* expect-error 2: D_SYNTAX syntax error near "p;"; did you mean point_t? */
