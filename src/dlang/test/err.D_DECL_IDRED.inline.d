inline int foo = 1;
inline int foo = 2;
/* expect-error 2: D_DECL_IDRED identifier redefined: foo current: inline definition previous: scalar inline */
