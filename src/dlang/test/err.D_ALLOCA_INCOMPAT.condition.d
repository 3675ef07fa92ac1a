BEGIN
{
	p = (char *)alloca(1);
	q = p == NULL ? p : NULL;
	q = p == NULL ? (char *)50 : p;
}
/* expect-error 5: D_ALLOCA_INCOMPAT ternary conditional with alloca and non-alloca branches cannot be assigned to a variable */
