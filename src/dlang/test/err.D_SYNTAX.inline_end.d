inline int two = 2
BEGIN { trace(1); }
/* expect-error 2: D_SYNTAX syntax error near "BEGIN { trace(1); }" */
