BEGIN
{
	panic("arguments are told before what is impossible");
}
/* expect-error 3: D_PROTO_LEN panic( ) prototype mismatch: 1 arg passed, 0 expected */
