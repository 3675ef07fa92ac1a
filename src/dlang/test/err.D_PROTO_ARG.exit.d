BEGIN
{
	exit("a");
}
/* expect-error 3: D_PROTO_ARG exit( ) argument #1 is incompatible with prototype: prototype: int argument: string */
