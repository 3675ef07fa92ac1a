/* with kernel */
BEGIN
{
	trace(curthread->weight * 2);
}
/* expect-error 4: D_OP_ARITH operator * requires operands of arithmetic type */
