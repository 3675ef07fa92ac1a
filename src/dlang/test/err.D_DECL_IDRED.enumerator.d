enum { A, A };
BEGIN { trace(1); }
/* expect-error 1: D_DECL_IDRED identifier redeclared: A */
