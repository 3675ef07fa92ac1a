BEGIN
{
	x = timestamp > 0 ? 1 : printf("no");
}
/* expect-error 3: D_OP_ACT action cannot be used in a conditional context */
