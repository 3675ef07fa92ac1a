BEGIN
{
	@ = llquantize(1, 10, 0, 6, 20);
	@ = llquantize(1, 20, 0, 6, 20);
}
/* expect-error 4: D_LLQUANT_MATCHFACTOR llquantize( ) factor (argument # */
