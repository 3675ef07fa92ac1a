BEGIN
{
	tracemem(1, 2, "x");
}
/* expect-error 3: D_PROTO_ARG tracemem( ) argument #3 is incompatible with prototype: */
