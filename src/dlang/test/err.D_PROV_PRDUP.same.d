provider app {
	probe go__on(int);
	probe go__on();
};
/* expect-error 3: D_PROV_PRDUP probe app:::go-on is defined twice */
