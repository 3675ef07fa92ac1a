BEGIN
{
	tracemem(1, 2, 3, 4);
}
/* expect-error 3: D_PROTO_LEN tracemem( ) prototype mismatch: 4 args passed, at most 3 expected */
