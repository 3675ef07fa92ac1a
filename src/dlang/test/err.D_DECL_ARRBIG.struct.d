struct s { char a[1000000]; char b[1000000]; };
BEGIN { trace(1); }
/* expect-error 1: D_DECL_ARRBIG struct s is too big */
