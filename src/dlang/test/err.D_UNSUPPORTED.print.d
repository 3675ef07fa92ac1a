BEGIN
{
	print(arg0);
}
/* expect-error 3: D_UNSUPPORTED print( ) is not supported yet */
