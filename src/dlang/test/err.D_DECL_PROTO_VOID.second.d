int f(int a, void);
BEGIN { trace(1); }
/* expect-error 1: D_DECL_PROTO_VOID void must be the sole parameter */
