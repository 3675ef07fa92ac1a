BEGIN
{
	x = stack();
}
/* expect-error 3: D_CG_EXPR stack( ) may not be called from a D expression */
