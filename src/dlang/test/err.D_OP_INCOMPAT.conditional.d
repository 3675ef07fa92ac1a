BEGIN
{
	x = pid ? "a" : 1;
}
/* expect-error 3: D_OP_INCOMPAT operator ?: operands must have compatible types */
