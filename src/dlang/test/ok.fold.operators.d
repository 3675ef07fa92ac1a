BEGIN
{
	a = 6 % 4;
	b = 6u % 4u;
	c = 1 != 2;
	d = 1 <= 1;
	e = 2 > 1;
	f = 2 >= 3;
	g = 5 & 3 | 8 ^ 1;
	h = 1 << 4;
	i = 0 || 2;
	j = 1 ^^ 1;
	k = 0x80000000u - 1;
	l = (-9223372036854775807 - 1) / -1;
	m = -5 % -1;
	n = 7u / 2u;
	o = +5;
	p = -5u;
}
/* expect-type (var a:int) (int 2:int) */
/* expect-type (var b:unsigned int) (int 2:unsigned int) */
/* expect-type (var c:int) (int 1:int) */
/* expect-type (var d:int) (int 1:int) */
/* expect-type (var e:int) (int 1:int) */
/* expect-type (var f:int) (int 0:int) */
/* expect-type (var g:int) (int 9:int) */
/* expect-type (var h:int) (int 16:int) */
/* expect-type (var i:int) (int 1:int) */
/* expect-type (var j:int) (int 0:int) */
/* expect-type (var k:unsigned int) (int 2147483647:unsigned int) */
/* expect-type (var l:long) (int -9223372036854775808:long) */
/* expect-type (var m:int) (int 0:int) */
/* expect-type (var o:int) (int 5:int) */
/* expect-type (var p:unsigned int) (int 4294967291:unsigned int) */
