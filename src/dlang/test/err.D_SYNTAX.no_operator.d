int x;
BEGIN { x y; }
/* expect-error 2: D_SYNTAX syntax error near "y; }" */
