BEGIN
{
	@a = count();
	trunc(@a, "a");
}
/* expect-error 4: D_PROTO_ARG trunc( ) argument #2 is incompatible with prototype: prototype: scalar argument: string */
