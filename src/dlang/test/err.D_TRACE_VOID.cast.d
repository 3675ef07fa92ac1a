BEGIN
{
	trace((void)1);
}
/* expect-error 3: D_TRACE_VOID trace( ) may not be applied to a void expression */
