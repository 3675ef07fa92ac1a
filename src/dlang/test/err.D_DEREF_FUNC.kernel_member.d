/* with kernel */
BEGIN
{
	trace(*curthread->handler);
}
/* expect-error 4: D_DEREF_FUNC cannot dereference pointer to function */
