BEGIN
{
	@ = quantize(1, "a");
}
/* expect-error 3: D_PROTO_ARG quantize( ) increment value (argument #2) must be of scalar type */
