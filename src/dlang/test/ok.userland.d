BEGIN
{
	trace(stringof((userland char *)arg0));
}
/* expect-type (cast:string256 (cast:char* */
