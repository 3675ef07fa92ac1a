provider app {
	probe go(int);
};
/* expect-error 1: D_UNSUPPORTED provider definitions are not supported yet: provider */
