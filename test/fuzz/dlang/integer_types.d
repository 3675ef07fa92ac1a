BEGIN
{
	a = 2147483647;
	b = 2147483648;
	c = 0x80000000;
	d = 1u;
	e = 1ll;
	f = 0xffffffffffffffff;
	g = 'a';
	h = '\n';
	i = 017;
}
