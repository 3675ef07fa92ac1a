int a[1000000000];
BEGIN { trace(a[0]); }
/* expect-error 1: D_DECL_ARRBIG array dimension too big */
