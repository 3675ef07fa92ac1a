provider cpc { probe go(); };
/* expect-error 1: D_PROV_INCOMPAT provider cpc is there already: give yours another name */
