BEGIN
{
	@ = lquantize(1, 5000000000, 10);
}
/* expect-error 3: D_LQUANT_BASEVAL lquantize( ) argument #1 must be a 32-bit quantity */
