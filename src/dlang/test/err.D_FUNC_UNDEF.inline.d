inline int twice[int a] = 2 * a;
BEGIN { trace(twice(1)); }
/* expect-error 2: D_FUNC_UNDEF undefined function name: twice */
/* expect-why twice is an inline: its arguments stand in brackets, twice[ ] */
