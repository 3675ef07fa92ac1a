BEGIN
{
	x = (y = 1, y + 1);
	a = 1, b = 2;
}
