BEGIN
{
	@ = llquantize(1, 10, 0, 10, 1000);
}
/* expect-error 3: D_LLQUANT_STEPVAL llquantize( ) has 11000 levels */
