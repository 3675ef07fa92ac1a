struct s { int a; };
BEGIN
{
	(struct s)trace(1);
}
/* expect-error 4: D_CAST_INVAL invalid cast expression: "void" to "struct s" */
