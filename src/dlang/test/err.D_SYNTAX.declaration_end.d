int x[2]
/* expect-error 3: D_SYNTAX syntax error near end-of-input */
