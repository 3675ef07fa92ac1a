BEGIN
{
	x = index("a", "b", "c");
}
/* expect-error 3: D_PROTO_ARG index( ) argument #3 is incompatible with prototype: prototype: int argument: string */
