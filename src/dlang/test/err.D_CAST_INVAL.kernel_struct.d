/* with kernel */
BEGIN
{
	trace((int)*curthread);
}
/* expect-error 4: D_CAST_INVAL invalid cast expression: "struct task_struct" to "int" */
