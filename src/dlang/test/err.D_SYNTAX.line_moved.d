#line 40
BEGIN { trace(1); }
BEGIN { trace(; }
/* expect-error 41: D_SYNTAX syntax error near ";" */
