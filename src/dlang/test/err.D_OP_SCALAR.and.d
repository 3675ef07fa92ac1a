BEGIN
{
	x = execname && 1;
}
/* expect-error 3: D_OP_SCALAR operator && requires operands of scalar type */
