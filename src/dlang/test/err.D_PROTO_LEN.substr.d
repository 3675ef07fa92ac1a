BEGIN
{
	x = substr("a");
}
/* expect-error 3: D_PROTO_LEN substr( ) prototype mismatch: 1 arg passed, at least 2 expected */
