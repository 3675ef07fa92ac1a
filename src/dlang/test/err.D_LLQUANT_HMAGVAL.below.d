BEGIN
{
	@ = llquantize(1, 10, 6, 6, 20);
}
/* expect-error 3: D_LLQUANT_HMAGVAL llquantize( ) high magnitude (argument #3) must be greater than low magnitude (argument #2) */
