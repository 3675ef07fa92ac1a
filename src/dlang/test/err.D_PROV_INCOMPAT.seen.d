provider app { probe go(int a) : (int a); };
provider app { probe go(int a) : (short a); };
/* expect-error 2: D_PROV_INCOMPAT argument 1 of probe app:::go is defined again as "short", and was "int" */
