/* expect-error 5: untagged end-of-file encountered before matching */
BEGIN { trace(1); }
/* never
ends
