uint8_t a;
BEGIN
{
	b = a + 1;
	c = a << 1;
	d = ~a;
	e = a + 1ul;
	f = -1 < 1u;
}
