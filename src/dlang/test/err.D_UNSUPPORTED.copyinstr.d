BEGIN
{
	trace(copyinstr(arg0));
}
/* expect-error 3: D_UNSUPPORTED copyinstr( ) is not supported yet */
