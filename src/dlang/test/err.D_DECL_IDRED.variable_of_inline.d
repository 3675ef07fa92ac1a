inline int n = 2;
int n;
/* expect-error 2: D_DECL_IDRED identifier redeclared: n */
