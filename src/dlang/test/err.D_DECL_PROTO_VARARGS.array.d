int a[...];
/* expect-error 1: D_DECL_PROTO_VARARGS array prototype may not use a variable-length argument list */
