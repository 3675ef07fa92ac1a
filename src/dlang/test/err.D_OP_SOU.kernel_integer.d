/* with kernel */
BEGIN
{
	trace(curthread->pid.x);
}
/* expect-error 4: D_OP_SOU operator . cannot be applied to type "int"; must be applied to a struct or union */
