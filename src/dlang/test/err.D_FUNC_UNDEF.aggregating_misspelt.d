BEGIN
{
	@ = conut();
}
/* expect-error 3: D_FUNC_UNDEF undefined function name: conut; did you mean count()? */
