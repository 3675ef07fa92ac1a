cpc:::cpu_clock-user-10000000
/pid == $target/
{
	@[ustack()] = count();
}
