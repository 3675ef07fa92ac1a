/* with kernel */
BEGIN
{
	trace(((struct task_strct *)arg0)->pid);
}
/* expect-error 4: D_OP_INCOMPLETE operator -> cannot be applied to a forward declaration: no struct task_strct definition is available; did you mean struct task_struct? */
