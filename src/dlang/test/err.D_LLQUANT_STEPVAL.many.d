BEGIN
{
	@ = llquantize(1, 10, 2, 9, 1000);
}
/* expect-error 3: D_LLQUANT_STEPVAL llquantize( ) argument #4 (steps) makes 14403 buckets */
