BEGIN
{
	stack(128);
	@[ustack(500)] = count();
	@k[stack(127)] = count();
}
/* expect-type (stackfn:stack127) */
/* expect-type (stackfn:ustack127) */
