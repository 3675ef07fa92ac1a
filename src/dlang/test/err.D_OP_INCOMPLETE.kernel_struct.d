/* with kernel */
BEGIN
{
	trace(curthread->owner->name);
}
/* expect-error 4: D_OP_INCOMPLETE operator -> cannot be applied to a forward declaration: no struct module definition is available */
