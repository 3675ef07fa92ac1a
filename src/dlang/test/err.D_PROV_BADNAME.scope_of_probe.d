provider app {
	probe `go();
};
/* expect-error 2: D_PROV_BADNAME a probe's name may not have a scope: `go */
