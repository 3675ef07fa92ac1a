/* ASSERT: a translator counts from where it stands on. */
struct info { int i_n; };
provider app {
	probe go(char *s, int a) : (string s, struct info a);
};
translator struct info <int a> { i_n = a; };
/* expect-error 4: D_PROV_PRXLATOR argument 2 of probe app:::go is a "int", and no translator makes a "struct info" of it */
