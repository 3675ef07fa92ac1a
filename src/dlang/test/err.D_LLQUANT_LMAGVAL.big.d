BEGIN
{
	@ = llquantize(1, 10, 100000, 6, 20);
}
/* expect-error 3: D_LLQUANT_LMAGVAL llquantize( ) argument #2 (low magnitude) must be an unsigned 16-bit quantity */
