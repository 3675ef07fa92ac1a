provider app {
	probe go(int a, int b) : (int b, int c);
};
/* expect-error 2: D_DECL_PROTO_FORM probe app:::go has no argument that is called c */
