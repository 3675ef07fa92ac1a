const x;
BEGIN { trace(1); }
/* expect-error 1: D_SYNTAX syntax error near "x;" */
