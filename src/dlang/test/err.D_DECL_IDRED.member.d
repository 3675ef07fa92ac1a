struct s { int a; int a; };
BEGIN { trace(1); }
/* expect-error 1: D_DECL_IDRED identifier redeclared: a */
