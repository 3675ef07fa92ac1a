/* with kernel */
BEGIN
{
	trace(offsetof(struct task_struct, in_iowait));
}
/* expect-error 4: D_OFFSETOF_BITFIELD cannot take offset of a bit-field: in_iowait */
