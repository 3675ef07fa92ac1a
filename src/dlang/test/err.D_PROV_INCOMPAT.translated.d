provider app { probe go(int a); };
provider app { probe go(int a) : (short a); };
/* expect-error 2: D_PROV_INCOMPAT probe app:::go is defined again, and only one of both says what its arguments become */
