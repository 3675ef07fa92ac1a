provider app {
	probe go(int a) : (int a, int);
};
/* expect-error 2: D_DECL_PROTO_NAME argument 2 of probe app:::go is none of its 1 arguments: give it the name of one */
