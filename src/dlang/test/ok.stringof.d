BEGIN
{
	x = stringof(arg0);
	y = (string)arg1;
	z = stringof(execname);
}
/* expect-type (cast:string256 (cast:unsigned long (builtin arg0:int64_t))) */
/* expect-type (assign =:string256 (var z:string256) (builtin execname:string256)) */
