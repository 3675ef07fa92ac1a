struct info { int a; string b; };

translator struct info < struct foreign *P > {
	a = P->x + sizeof (struct info);
	b = P->y == 0 ? "" : stringof(P->y);
};
/* expect-error 3: D_UNSUPPORTED translators are not supported yet: translator struct info < struct foreign * > */
