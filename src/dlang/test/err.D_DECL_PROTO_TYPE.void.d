int a[int, void];
BEGIN { exit(0); }
/* expect-error 1: D_DECL_PROTO_TYPE array prototype may not use parameter of type void: (anonymous), parameter #2 */
