int n;
enum e { A = n };
BEGIN { trace(1); }
/* expect-error 2: D_DECL_ENCONST enumerator 'A' must be assigned to an integral constant expression */
