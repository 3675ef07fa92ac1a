BEGIN
{
	@a = count();
	trunc(@a, 1, 2);
}
/* expect-error 4: D_PROTO_LEN trunc( ) prototype mismatch: 3 args passed, at most 2 expected */
