BEGIN
{
	x = ~execname;
}
/* expect-error 3: D_OP_INT operator ~ requires an operand of integral type */
