BEGIN
{
	@[func(execname)] = count();
}
/* expect-error 3: D_PROTO_ARG func( ) argument #1 is incompatible with prototype */
