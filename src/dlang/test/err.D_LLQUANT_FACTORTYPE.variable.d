BEGIN
{
	@ = llquantize(1, pid, 0, 6, 20);
}
/* expect-error 3: D_LLQUANT_FACTORTYPE llquantize( ) argument #1 (factor) must be an integer constant */
