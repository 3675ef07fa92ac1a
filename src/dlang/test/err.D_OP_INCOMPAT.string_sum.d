BEGIN
{
	x = execname + "a";
}
/* expect-error 3: D_OP_INCOMPAT operands have incompatible types: "string" + "string" */
