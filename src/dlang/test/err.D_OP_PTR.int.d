BEGIN
{
	trace(pid->a);
}
/* expect-error 3: D_OP_PTR operator -> must be applied to a pointer */
