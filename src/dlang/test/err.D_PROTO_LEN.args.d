rec:::one
{
	trace(args[0, 1]);
}
/* expect-error 3: D_PROTO_LEN args[ ] prototype mismatch: 2 args passed, 1 expected */
