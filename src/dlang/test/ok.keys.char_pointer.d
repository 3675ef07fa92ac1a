BEGIN
{
	@[execname] = count();
	@[(char *)arg0] = count();
	a["x"] = 1;
	a[(char *)arg0] = 2;
}
/* expect-type (keys (builtin execname:string256)) */
/* expect-type (keys (cast:string256 (cast:char* */
/* expect-type (var a:int (cast:string256 (cast:char* */
