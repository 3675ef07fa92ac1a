BEGIN
{
	x = "a";
	x++;
}
/* expect-error 4: D_OP_SCALAR operator ++ requires operand of scalar type */
