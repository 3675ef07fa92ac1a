BEGIN
{
	@ = lquantize(1, 0, "a");
}
/* expect-error 3: D_LQUANT_LIMTYPE lquantize( ) argument #2 must be an integer constant */
