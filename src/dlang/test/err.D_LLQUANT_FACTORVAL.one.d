BEGIN
{
	@ = llquantize(1, 1, 0, 6, 20);
}
/* expect-error 3: D_LLQUANT_FACTORVAL llquantize( ) factor (argument #1) must be two or more */
