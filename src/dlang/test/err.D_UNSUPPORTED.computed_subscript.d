int a[2][3];
BEGIN { trace(a[pid][1]); }
/* expect-error 2: D_UNSUPPORTED computed subscripts of arrays of arrays */
