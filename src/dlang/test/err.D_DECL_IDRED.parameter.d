inline int sum[int a, int b,
	int a] = a + b;
BEGIN { trace(sum[1, 2, 3]); }
/* expect-error 2: D_DECL_IDRED identifier redeclared: a */
