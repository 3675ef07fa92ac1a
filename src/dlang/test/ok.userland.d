BEGIN
{
	trace(stringof((userland char *)arg0));
}
/* expect-type (cast:string264 (cast:char* */
