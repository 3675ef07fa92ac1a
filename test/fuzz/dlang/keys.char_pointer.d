BEGIN
{
	@[execname] = count();
	@[(char *)arg0] = count();
	a["x"] = 1;
	a[(char *)arg0] = 2;
}
