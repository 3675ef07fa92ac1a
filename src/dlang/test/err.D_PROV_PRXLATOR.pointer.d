struct req { int n; };
struct info { int i_n; };
provider app {
	probe go(struct req *r) : (struct info *r);
};
/* expect-error 4: D_PROV_PRXLATOR argument 1 of probe app:::go is a "struct req *", and no translator makes a "struct info *" of it */
