typedef int t;
typedef char *t;
BEGIN { trace(1); }
/* expect-error 2: D_DECL_IDRED typedef redeclared: t */
