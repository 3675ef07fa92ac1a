struct t;
BEGIN
{
	trace(((struct t *)arg0)->a);
}
/* expect-error 4: D_OP_INCOMPLETE operator -> cannot be applied to a forward declaration: no struct t definition is available */
