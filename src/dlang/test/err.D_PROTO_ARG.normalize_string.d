BEGIN
{
	@a = count();
	normalize(@a, "a");
}
/* expect-error 4: D_PROTO_ARG normalize( ) argument #2 is incompatible with prototype: prototype: scalar argument: string */
