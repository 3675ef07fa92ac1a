BEGIN
{
	raise(9);
}
/* expect-error 3: D_UNSUPPORTED raise( ) is not supported yet */
