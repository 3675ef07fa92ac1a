BEGIN
{
	x = execname * 2;
}
/* expect-error 3: D_OP_ARITH operator * requires operands of arithmetic type */
