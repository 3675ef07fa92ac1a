BEGIN
{
	d_path(0);
}
/* expect-error 3: D_UNSUPPORTED d_path( ) is not supported yet */
