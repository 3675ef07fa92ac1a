BEGIN
{
	x = (int (*)(int))arg0 == (int *)arg1;
}
/* expect-error 3: D_OP_INCOMPAT operands have incompatible types: "function *" == "int *" */
