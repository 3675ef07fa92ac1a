BEGIN
{
	if (execname)
		trace(1);
}
/* expect-error 3: D_OP_SCALAR if requires an expression of scalar type */
