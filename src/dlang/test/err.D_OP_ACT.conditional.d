BEGIN
{
	x = timestamp > 0 ? trace(1) : trace(2);
}
/* expect-error 3: D_OP_ACT action cannot be used in a conditional context */
