BEGIN
{
	x = strlen("a", 2);
}
/* expect-error 3: D_PROTO_LEN strlen( ) prototype mismatch: 2 args passed, 1 expected */
