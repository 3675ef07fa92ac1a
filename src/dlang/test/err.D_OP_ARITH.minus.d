BEGIN
{
	x = -execname;
}
/* expect-error 3: D_OP_ARITH operator - requires an operand of arithmetic type */
