int a(int x, int b[int]);
/* expect-error 1: D_DECL_PROTO_TYPE function prototype may not use parameter of type dynamic variable: b, parameter #2 */
