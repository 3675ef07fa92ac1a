cpc:::cpu_clock-user-10000000
/pid == $target/
{
	@[ustack()] = count();
}
/* expect-type (keys (stackfn:ustack100)) */
/* expect-type (builtin pid:pid_t) (int 42:int) */
