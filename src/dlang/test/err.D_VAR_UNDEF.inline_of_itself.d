inline int f[int n] = n < 2 ? 1 : n * f[n - 1];
/* expect-error 1: D_VAR_UNDEF f has not yet been declared or assigned */
/* expect-why an inline cannot name itself */
