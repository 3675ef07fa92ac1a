BEGIN
{
	chill(1, 2);
}
/* expect-error 3: D_PROTO_LEN chill( ) prototype mismatch: 2 args passed, 1 expected */
