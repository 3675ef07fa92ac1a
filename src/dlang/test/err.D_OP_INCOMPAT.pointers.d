BEGIN
{
	x = (int *)arg0 == (long *)arg1;
}
/* expect-error 3: D_OP_INCOMPAT operands have incompatible types: "int *" == "long *" */
