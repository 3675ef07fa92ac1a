/* with kernel */
BEGIN
{
	`jiffies = 1;
}
/* expect-error 4: D_OP_WRITE operator = can only be applied to a writable variable */
