int a[2];
BEGIN { p = (int *)alloca(4); *p = 1; q = &a[1]; *q = 1; }
/* expect-error 2: D_OP_WRITE operator = can only be applied to a writable variable */
