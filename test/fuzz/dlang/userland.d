BEGIN
{
	trace(stringof((userland char *)arg0));
}
