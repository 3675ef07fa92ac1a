BEGIN
{
	x = (int (int))arg0;
}
/* expect-error 3: D_CAST_INVAL invalid cast expression: "int64_t" to "int()" */
