inline int two = 1 +;
/* expect-error 1: D_SYNTAX syntax error near ";" */
