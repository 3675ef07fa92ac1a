enum e { A = 0x7fffffff, B };
BEGIN { trace(1); }
/* expect-error 1: D_DECL_ENOFLOW enumerator value overflows INT_MAX: B */
