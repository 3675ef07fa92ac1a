struct s { int *a : 3; };
BEGIN { trace(1); }
/* expect-error 1: D_DECL_BFTYPE invalid type for bit-field: a */
