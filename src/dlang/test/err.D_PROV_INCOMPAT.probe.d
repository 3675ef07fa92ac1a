provider app { probe go(); };
provider app {
	probe go();
	probe stop();
};
/* expect-error 4: D_PROV_INCOMPAT provider app is defined again, and had no probe stop */
