enum { N };
inline int N = 2;
/* expect-error 2: D_DECL_IDRED identifier redefined: N current: inline definition previous: enumerator */
