BEGIN
{
	@ = lquantize(1, 1100, 1100, -100);
}
/* expect-error 3: D_LQUANT_MISMATCH lquantize( ) base (argument #1) must be less than limit (argument #2) */
