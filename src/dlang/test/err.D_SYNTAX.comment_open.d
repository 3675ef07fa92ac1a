/* expect-error 5: D_SYNTAX end-of-file encountered before matching */
BEGIN { trace(1); }
/* never
ends
