BEGIN
{
	trace(((int *)arg0)->a);
}
/* expect-error 3: D_OP_SOU operator -> cannot be applied to pointer to type "int" */
