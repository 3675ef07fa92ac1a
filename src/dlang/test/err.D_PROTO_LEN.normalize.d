BEGIN
{
	@a = count();
	normalize(@a);
}
/* expect-error 4: D_PROTO_LEN normalize( ) prototype mismatch: 1 arg passed, 2 expected */
