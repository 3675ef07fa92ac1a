/* scratchsize is 256 where nobody sets it. */
BEGIN
{
	trace(alloca(256));
	trace(alloca(257));
}
/* expect-error 5: D_ALLOCA_SIZE alloca(257) size larger than scratchsize 256 */
