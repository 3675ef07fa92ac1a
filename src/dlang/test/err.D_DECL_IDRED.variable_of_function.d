string copyin;
/* expect-error 1: D_DECL_IDRED identifier redeclared: copyin */
