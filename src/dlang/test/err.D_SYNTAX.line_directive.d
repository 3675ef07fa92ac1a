#line 100
BEGIN { trace(; }
/* expect-error 100: D_SYNTAX syntax error near ";" */
