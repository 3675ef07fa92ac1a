nosuch:::probe
{
	x = 1;
	@a = count();
}
BEGIN
{
	trace(x);
	printa(@a);
}
