BEGIN
{
	breakpoint();
}
/* expect-error 3: D_UNKNOWN breakpoint() is not implemented (yet) */
