BEGIN
{
	x = trace(1);
}
/* expect-error 3: D_CG_EXPR trace( ) may not be called from a D expression (D program context required) */
