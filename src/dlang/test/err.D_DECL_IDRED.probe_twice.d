provider app {
	probe go__on(int);
	probe go__on();
};
/* expect-error 3: D_DECL_IDRED probe app:::go-on is defined twice */
