BEGIN
{
	@ = llquantize(1, 10, 0, 6, 20);
	@ = llquantize(1, 10, 0, 5, 20);
}
/* expect-error 4: D_LLQUANT_MATCHHMAG llquantize( ) high magnitude (argument # */
