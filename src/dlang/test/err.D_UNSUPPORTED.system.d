BEGIN
{
	system("date");
}
/* expect-error 3: D_UNSUPPORTED system( ) is not supported yet */
