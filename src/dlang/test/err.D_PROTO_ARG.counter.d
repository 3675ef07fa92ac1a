BEGIN
{
	trace(counter(execname));
}
/* expect-error 3: D_PROTO_ARG counter( ) argument #1 is incompatible with prototype: */
