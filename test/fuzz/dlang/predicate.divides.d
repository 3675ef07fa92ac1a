BEGIN
/pid / 2 == (8 / 4)/
{
	trace(1);
}
