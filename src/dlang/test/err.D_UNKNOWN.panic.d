BEGIN
{
	panic();
}
/* expect-error 3: D_UNKNOWN panic() is not implemented (yet) */
