BEGIN
{
	@ = llquantize(1, 10, 0, 6, 30);
}
/* expect-error 3: D_LLQUANT_STEPVAL llquantize( ) factor (argument #1) must evenly divide the number of steps per magnitude */
