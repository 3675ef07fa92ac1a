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
/* expect-type (var b:long) */
/* expect-type (var c:unsigned int) */
/* expect-type (var d:unsigned int) */
/* expect-type (var e:long long) */
/* expect-type (var f:unsigned long) */
/* expect-type (int 97:int) */
/* expect-type (int 10:int) */
/* expect-type (int 15:int) */
