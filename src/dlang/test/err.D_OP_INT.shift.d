BEGIN
{
	x = 1 << "a";
}
/* expect-error 3: D_OP_INT operator << requires operands of integral type */
