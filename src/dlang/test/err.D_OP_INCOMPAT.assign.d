BEGIN
{
	x = 1;
	x = "a";
}
/* expect-error 4: D_OP_INCOMPAT operands have incompatible types: "int" = "string" */
