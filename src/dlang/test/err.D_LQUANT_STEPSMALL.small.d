BEGIN
{
	@ = lquantize(1, 0, 1000000, 1);
}
/* expect-error 3: D_LQUANT_STEPSMALL lquantize( ) step (argument #3) too small */
