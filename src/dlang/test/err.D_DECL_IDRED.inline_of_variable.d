int n;
inline int n = 2;
/* expect-error 2: D_DECL_IDRED identifier redefined: n current: inline definition previous: variable */
/* expect-why give one of both another name */
