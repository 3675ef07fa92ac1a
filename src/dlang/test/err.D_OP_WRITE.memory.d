BEGIN
{
	*(int *)arg0 = 1;
}
/* expect-error 3: D_OP_WRITE operator = can only be applied to a writable variable */
