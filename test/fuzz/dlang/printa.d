BEGIN
{
	@a[execname, ustack()] = count();
	@b[execname, ustack()] = sum(1);
	printa("%s %k %@d %@d\n", @a, @b);
	printa(@a, @b);
	clear(@a); denormalize(@a); normalize(@b, 10); trunc(@b);
}
