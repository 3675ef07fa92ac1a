BEGIN
{
	@ = llquantize(1, 100000, 0, 6, 20);
}
/* expect-error 3: D_LLQUANT_FACTORVAL llquantize( ) argument #1 (factor) must be an unsigned 16-bit quantity */
