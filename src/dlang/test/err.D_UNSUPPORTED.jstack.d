BEGIN
{
	jstack();
}
/* expect-error 3: D_UNSUPPORTED jstack( ) is not supported yet */
