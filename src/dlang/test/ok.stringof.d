BEGIN
{
	x = stringof(arg0);
	y = (string)arg1;
	z = stringof(execname);
}
/* expect-type (cast:string264 (cast:unsigned long (builtin arg0:int64_t))) */
/* expect-type (assign =:string264 (var z:string264) (builtin execname:string264)) */
