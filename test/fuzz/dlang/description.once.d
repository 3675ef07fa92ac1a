BEGIN, dtrace:::BEGIN
{
	trace(1);
}
