BEGIN
{
	x = execname == 1;
}
/* expect-error 3: D_OP_INCOMPAT operands have incompatible types: "string" == "int" */
