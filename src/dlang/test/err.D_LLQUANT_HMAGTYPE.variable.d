BEGIN
{
	@ = llquantize(1, 10, 0, pid, 20);
}
/* expect-error 3: D_LLQUANT_HMAGTYPE llquantize( ) argument #3 (high magnitude) must be an integer constant */
