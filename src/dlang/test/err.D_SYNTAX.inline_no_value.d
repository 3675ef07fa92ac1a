inline int zero;
/* expect-error 1: D_SYNTAX syntax error near ";" */
