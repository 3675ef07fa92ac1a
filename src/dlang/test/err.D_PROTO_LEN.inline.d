inline int total[int a, int b] = a + b;
BEGIN { trace(total[1]); }
/* expect-error 2: D_PROTO_LEN total[ ] prototype mismatch: 1 arg passed, 2 expected */
