BEGIN
{
	func();
}
/* expect-error 3: D_PROTO_LEN func( ) prototype mismatch: 0 args passed, 1 expected */
