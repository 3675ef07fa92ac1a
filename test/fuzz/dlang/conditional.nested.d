BEGIN
{
	x = pid ? 1 : tid ? 2 : 3;
}
