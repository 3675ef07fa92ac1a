BEGIN
{
	if (pid == 1) {
		trace(uaddr(arg0));
		@[uaddr(arg0)] = count();
	}
	trace(uaddr(arg1));
	@[uaddr(arg1)] = count();
}
