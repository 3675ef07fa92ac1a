BEGIN
{
	ustack(1, "a");
}
/* expect-error 3: D_USTACK_STRSIZE ustack( ) argument #2 must be a positive integer constant */
