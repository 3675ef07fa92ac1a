BEGIN
{
	d_path(0);
}
/* expect-error 3: D_UNSUPPORTED d_path( ) reads structures of a kernel: there is none where this runs */
