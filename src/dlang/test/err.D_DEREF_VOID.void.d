BEGIN
{
	trace(*(void *)arg0);
}
/* expect-error 3: D_DEREF_VOID cannot dereference pointer to void */
