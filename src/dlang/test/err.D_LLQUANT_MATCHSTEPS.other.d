BEGIN
{
	@ = llquantize(1, 10, 0, 6, 20);
	@ = llquantize(1, 10, 0, 6, 10);
}
/* expect-error 4: D_LLQUANT_MATCHSTEPS llquantize( ) linear steps per magnitude (argument # */
