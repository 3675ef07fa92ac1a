BEGIN
{
	x = 3;
	trace(lltostr(1, x));
}
/* expect-error 4: D_PROTO_ARG lltostr( ) argument #2 is incompatible with prototype: prototype: constant from 2 to 36 argument: int */
