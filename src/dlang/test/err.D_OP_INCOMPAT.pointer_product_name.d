BEGIN
{
	x = (int **)arg0 + (int *)arg1;
}
/* expect-error 3: D_OP_INCOMPAT operands have incompatible types: "int * *" + "int *" */
