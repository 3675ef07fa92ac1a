long long long x;
BEGIN { trace(1); }
/* expect-error 1: D_DECL_COMBO invalid type combination */
