BEGIN
{
	@[execname] = count();
	@[(char *)arg0] = count();
	a["x"] = 1;
	a[(char *)arg0] = 2;
}
/* expect-type (keys (builtin execname:string264)) */
/* expect-type (keys (cast:string264 (cast:char* */
/* expect-type (var a:int (cast:string264 (cast:char* */
