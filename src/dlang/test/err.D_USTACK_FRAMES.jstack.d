BEGIN
{
	jstack(pid);
}
/* expect-error 3: D_USTACK_FRAMES ustack( ) argument #1 must be a non-zero positive integer constant */
