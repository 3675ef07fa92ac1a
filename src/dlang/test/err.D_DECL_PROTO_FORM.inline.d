inline int total[int a, int b,
	int a] = a + b;
BEGIN { trace(total[1, 2, 3]); }
/* expect-error 2: D_DECL_PROTO_FORM parameter is already declared in array prototype: a, parameter #3 */
