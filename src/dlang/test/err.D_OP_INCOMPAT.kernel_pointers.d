/* with kernel */
BEGIN
{
	x = curthread == curthread->mm;
}
/* expect-error 4: D_OP_INCOMPAT operands have incompatible types: "struct task_struct *" == "struct mm_struct *" */
