int pid;
BEGIN { trace(1); }
/* expect-error 1: D_DECL_IDRED identifier redeclared: pid */
