BEGIN
{
	trace(1 + \
2);;
}
/* expect-type (int 3:int) */
