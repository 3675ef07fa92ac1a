BEGIN
{
	@ = llquantize(1, 10, pid, 6, 20);
}
/* expect-error 3: D_LLQUANT_LMAGTYPE llquantize( ) argument #2 (low magnitude) must be an integer constant */
