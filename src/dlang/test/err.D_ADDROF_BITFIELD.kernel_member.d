/* with kernel */
BEGIN
{
	trace((int)&curthread->in_iowait);
}
/* expect-error 4: D_ADDROF_BITFIELD cannot take address of bit-field */
