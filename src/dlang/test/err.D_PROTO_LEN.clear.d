BEGIN
{
	clear();
}
/* expect-error 3: D_PROTO_LEN clear( ) prototype mismatch: 0 args passed, 1 expected */
