BEGIN
{
	@ = count(1);
}
/* expect-error 3: D_PROTO_LEN count( ) prototype mismatch: 1 arg passed, 0 expected */
