uint8_t a;
BEGIN
{
	b = a + 1;
	c = a << 1;
	d = ~a;
	e = a + 1ul;
	f = -1 < 1u;
}
/* expect-type (var b:int) */
/* expect-type (bin +:int (cast:int (var a:uint8_t)) (int 1:int)) */
/* expect-type (var e:unsigned long) */
/* expect-type (assign =:int (var f:int) (int 0:int)) */
