BEGIN
{
	@ = lquantize(1, 0, 10, 2);
	@ = lquantize(1, 0, 10, 5);
}
/* expect-error 4: D_LQUANT_MATCHSTEP lquantize( ) step (argument #3) doesn't match previous declaration: expected 2, found 5 */
