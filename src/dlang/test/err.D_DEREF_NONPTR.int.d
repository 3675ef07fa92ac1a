BEGIN
{
	trace(*pid);
}
/* expect-error 3: D_DEREF_NONPTR cannot dereference non-pointer type */
