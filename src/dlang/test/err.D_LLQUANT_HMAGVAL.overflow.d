BEGIN
{
	@ = llquantize(1, 10, 0, 30, 10);
}
/* expect-error 3: D_LLQUANT_HMAGVAL llquantize( ) factor (10) raised to power of high magnitude (30) overflows 64-bits */
