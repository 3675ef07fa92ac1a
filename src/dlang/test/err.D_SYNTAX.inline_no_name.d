inline int = 1;
/* expect-error 1: D_SYNTAX syntax error near "=" */
