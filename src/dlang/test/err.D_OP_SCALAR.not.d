BEGIN
{
	x = !execname;
}
/* expect-error 3: D_OP_SCALAR operator ! requires an operand of scalar type */
