BEGIN
{
	@ = llquantize(1, 10, 0, 6, pid);
}
/* expect-error 3: D_LLQUANT_STEPTYPE llquantize( ) argument #4 (linear steps per magnitude) must be an integer constant */
