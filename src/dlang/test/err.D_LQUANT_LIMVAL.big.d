BEGIN
{
	@ = lquantize(1, 0, 5000000000);
}
/* expect-error 3: D_LQUANT_LIMVAL lquantize( ) argument #2 must be a 32-bit quantity */
