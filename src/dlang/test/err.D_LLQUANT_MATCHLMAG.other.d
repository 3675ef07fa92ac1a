BEGIN
{
	@ = llquantize(1, 10, 0, 6, 20);
	@ = llquantize(1, 10, 1, 6, 20);
}
/* expect-error 4: D_LLQUANT_MATCHLMAG llquantize( ) low magnitude (argument # */
