BEGIN
{
	@ = lquantize(1, 0, 10, 11);
}
/* expect-error 3: D_LQUANT_STEPLARGE lquantize( ) step (argument #3) too large */
