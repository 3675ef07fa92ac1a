BEGIN
{
	jstack();
	@[jstack(3, 100)] = count();
}
/* expect-type (stackfn:ustack50) */
/* expect-type (stackfn:ustack3) */
