struct in { int i; };
translator struct out <struct in *p> {
	o = p->i;
};
/* expect-error 4: D_XLATE_SOU incomplete struct/union/enum struct out */
