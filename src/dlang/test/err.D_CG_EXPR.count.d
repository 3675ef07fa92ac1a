BEGIN
{
	count();
}
/* expect-error 3: D_CG_EXPR count( ) may not be called from a D expression */
