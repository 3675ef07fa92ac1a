provider app { }
BEGIN { trace(1); }
/* expect-error 2: D_SYNTAX syntax error near "BEGIN { trace(1); }" */
