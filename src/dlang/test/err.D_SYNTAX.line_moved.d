#line 40 "made.d"
BEGIN { trace(1); }
BEGIN { trace(; }
/* expect-error 41: D_SYNTAX syntax error near ";" */
