BEGIN
{
	func(arg0); ufunc(arg1); mod(arg0); umod(arg1); sym(arg0); usym(arg1); uaddr(arg1);
	trace(func(arg0));
	@[mod(arg0), umod(arg1), usym(arg1), uaddr(arg1), sym(arg0), stack(3), ustack(5)] = count();
	printf("%a %A %s %a", arg0, arg1, func(arg0), sym(arg0));
	printf("%a %A %a %A %s", func(arg0), usym(arg1), mod(arg0), umod(arg1), ufunc(arg1));
}
/* expect-type (action sym (args (symfn:func */
/* expect-type (stackfn:stack3) */
/* expect-type (stackfn:ustack5) */
/* expect-type (action sym (args (symfn:sym (cast:unsigned long (builtin arg0:int64_t))))) */
/* expect-type (symfn:addr (cast:unsigned long (builtin arg0:int64_t))) (symfn:uaddr (cast:unsigned long (builtin arg1:int64_t))) (symfn:func */
/* expect-type (symfn:func (cast:unsigned long (builtin arg0:int64_t))) (symfn:addr (cast:unsigned long (builtin arg0:int64_t)))) */
/* expect-type (args (symfn:addr (cast:unsigned long (builtin arg0:int64_t))) (symfn:uaddr (cast:unsigned long (builtin arg1:int64_t))) (symfn:mod */
