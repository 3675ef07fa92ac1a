BEGIN
{
	func(arg0); ufunc(arg1); mod(arg0); umod(arg1); sym(arg0); usym(arg1); uaddr(arg1);
	trace(func(arg0));
	@[mod(arg0), umod(arg1), usym(arg1), uaddr(arg1), sym(arg0), stack(3), ustack(5)] = count();
	printf("%a %A %s %a", arg0, arg1, func(arg0), sym(arg0));
}
