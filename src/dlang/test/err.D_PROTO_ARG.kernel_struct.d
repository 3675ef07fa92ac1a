/* with kernel */
BEGIN
{
	trace(strlen(*curthread));
}
/* expect-error 4: D_PROTO_ARG strlen( ) argument #1 is incompatible with prototype: */
