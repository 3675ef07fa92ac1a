BEGIN
{
	trace(curthread);
}
/* expect-error 3: D_UNSUPPORTED variable curthread is not supported yet */
