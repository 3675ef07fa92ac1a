BEGIN
{
	a = -7 / 2;
	b = -7 % 2;
	c = 7u / 2;
	d = -1 >> 1;
	e = 0x80000000 >> 31;
	f = 1 ? 5 : 6;
	g = !0;
	h = (char)300;
}
/* expect-type (var a:int) (int -3:int) */
/* expect-type (var b:int) (int -1:int) */
/* expect-type (int 3:unsigned int) */
/* expect-type (var d:int) (int -1:int) */
/* expect-type (int 1:unsigned int) */
/* expect-type (var f:int) (int 5:int) */
/* expect-type (var h:char) (int 44:char) */
