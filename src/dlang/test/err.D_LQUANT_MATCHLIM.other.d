BEGIN
{
	@ = lquantize(1, 0, 10);
	@ = lquantize(1, 0, 11);
}
/* expect-error 4: D_LQUANT_MATCHLIM lquantize( ) limit (argument #2) doesn't match previous declaration: expected 10, found 11 */
