provider app {
	probe said(char *format, ...);
};
/* expect-error 2: D_DECL_PROTO_VARARGS probe prototype may not use a variable-length argument list */
