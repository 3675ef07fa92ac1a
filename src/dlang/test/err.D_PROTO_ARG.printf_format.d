BEGIN
{
	printf(123);
}
/* expect-error 3: D_PROTO_ARG printf( ) argument #1 is incompatible with prototype: prototype: string argument: int */
