/* with kernel */
BEGIN
{
	trace(xlate < struct cred > (curthread).uid);
}
/* expect-error 4: D_XLATE_NONE cannot translate from "struct task_struct *" to "struct cred" */
