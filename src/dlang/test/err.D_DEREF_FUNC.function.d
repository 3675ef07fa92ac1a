BEGIN
{
	trace(*(int (*)(int))arg0);
}
/* expect-error 3: D_DEREF_FUNC cannot dereference pointer to function */
