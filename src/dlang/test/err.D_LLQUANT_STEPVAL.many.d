BEGIN
{
	@ = llquantize(1, 10, 2, 9, 1000);
}
/* expect-error 3: D_LLQUANT_STEPVAL at most 4097 are possible */
