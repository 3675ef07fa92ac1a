BEGIN
{
	print(1, 1);
}
/* expect-error 3: D_PROTO_LEN print( ) prototype mismatch: 2 args passed, 1 expected */
