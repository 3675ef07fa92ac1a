BEGIN
{
	@ = lquantize(1, 0, 10);
	@ = lquantize(1, 1, 10);
}
/* expect-error 4: D_LQUANT_MATCHBASE lquantize( ) base (argument #1) doesn't match previous declaration: expected 0, found 1 */
