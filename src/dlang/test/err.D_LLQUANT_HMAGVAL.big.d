BEGIN
{
	@ = llquantize(1, 10, 0, 100000, 20);
}
/* expect-error 3: D_LLQUANT_HMAGVAL llquantize( ) argument #3 (high magnitude) must be an unsigned 16-bit quantity */
