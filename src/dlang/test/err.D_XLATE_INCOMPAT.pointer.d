struct in { char *s; };
struct out { int o; };
translator struct out <struct in *p> {
	o = p->s;
};
/* expect-error 4: D_XLATE_INCOMPAT translator member o definition uses incompatible types: "int" = "char *" */
/* expect-why cast the expression to the member's type */
