/* with kernel */
BEGIN
{
	trace(curthread->pidd);
}
/* expect-error 4: D_TYPE_MEMBER pidd is not a member of struct task_struct; did you mean pid? */
