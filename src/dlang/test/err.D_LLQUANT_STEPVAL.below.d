BEGIN
{
	@ = llquantize(1, 10, 0, 6, 5);
}
/* expect-error 3: D_LLQUANT_STEPVAL llquantize( ) factor (argument #1) must be less than or equal to the number of linear steps */
