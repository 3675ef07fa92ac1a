inline int sum[int a, int b] = a + b;
BEGIN { trace(sum[1]); }
/* expect-error 2: D_PROTO_LEN sum[ ] prototype mismatch: 1 arg passed, 2 expected */
