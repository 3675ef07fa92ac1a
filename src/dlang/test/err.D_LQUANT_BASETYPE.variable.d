BEGIN
{
	@ = lquantize(1, pid, 10);
}
/* expect-error 3: D_LQUANT_BASETYPE lquantize( ) argument #1 must be an integer constant */
