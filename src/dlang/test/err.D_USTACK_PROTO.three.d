BEGIN
{
	ustack(1, 2, 3);
}
/* expect-error 3: D_USTACK_PROTO ustack( ) prototype mismatch: too many arguments */
