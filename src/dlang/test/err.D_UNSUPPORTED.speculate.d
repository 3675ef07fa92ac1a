BEGIN
{
	speculate(1);
}
/* expect-error 3: D_UNSUPPORTED speculate( ) is not supported yet */
