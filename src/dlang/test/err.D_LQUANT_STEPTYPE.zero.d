BEGIN
{
	@ = lquantize(1, 0, 10, 0);
}
/* expect-error 3: D_LQUANT_STEPTYPE lquantize( ) argument #3 must be a non-zero positive integer constant */
