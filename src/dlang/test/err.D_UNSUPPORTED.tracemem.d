BEGIN
{
	tracemem(arg0, 64);
}
/* expect-error 3: D_UNSUPPORTED tracemem( ) is not supported yet */
