provider app { probe go(int, char *); };
provider app { probe go(int, int); };
/* expect-error 2: D_PROV_INCOMPAT argument 2 of probe app:::go is defined again as "int", and was "char *" */
