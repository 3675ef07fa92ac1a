provider app { probe go(int); };
provider app { probe go(int, int); };
/* expect-error 2: D_PROV_INCOMPAT probe app:::go is defined again with 2 arguments, and had 1 */
