BEGIN
{
	@a = count();
	trace(@a + 3);
}
/* expect-error 4: D_OP_INCOMPAT operands have incompatible types: an aggregation is no value */
