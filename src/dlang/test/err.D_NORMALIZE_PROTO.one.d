BEGIN
{
	@a = count();
	normalize(@a);
}
/* expect-error 4: D_NORMALIZE_PROTO normalize( ) prototype mismatch: 1 arg passed, 2 expected */
