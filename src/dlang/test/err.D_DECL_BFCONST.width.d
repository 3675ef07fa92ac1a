int n;
struct s { int a : n; };
BEGIN { trace(1); }
/* expect-error 2: D_DECL_BFCONST positive integral constant expression expected as bit-field size */
