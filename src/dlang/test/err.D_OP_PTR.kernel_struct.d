/* with kernel */
BEGIN
{
	trace((*curthread)->pid);
}
/* expect-error 4: D_OP_PTR operator -> must be applied to a pointer */
