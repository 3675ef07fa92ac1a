BEGIN
{
	exit(trace(1));
}
/* expect-error 3: D_PROTO_ARG exit( ) argument #1 is incompatible with prototype: prototype: int argument: void */
