/* expect-error 3: D_SYNTAX end-of-file encountered before matching */
BEGIN { trace(1); }
/* never
ends
