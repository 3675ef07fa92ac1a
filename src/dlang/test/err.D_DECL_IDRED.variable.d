int x;
string x;
BEGIN { trace(1); }
/* expect-error 2: D_DECL_IDRED identifier redeclared: x */
