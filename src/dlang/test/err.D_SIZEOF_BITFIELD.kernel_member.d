/* with kernel */
BEGIN
{
	trace(sizeof (curthread->personality));
}
/* expect-error 4: D_SIZEOF_BITFIELD cannot apply sizeof to a bit-field */
