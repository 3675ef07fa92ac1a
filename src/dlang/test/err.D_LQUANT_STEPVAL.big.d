BEGIN
{
	@ = lquantize(1, 0, 1000000, 100000);
}
/* expect-error 3: D_LQUANT_STEPVAL lquantize( ) argument #3 must be a 16-bit quantity */
