dtrace:::*
{
	trace(1);
}
