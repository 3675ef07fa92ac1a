BEGIN
{
	@[strjoin(execname, "x")] = count();
	@[basename(execname)] = count();
	@[pid ? "a" : execname] = count();
}
