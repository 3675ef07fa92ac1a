BEGIN
{
	@a = count();
	trace(@a);
}
/* expect-error 4: D_TRACE_DYN trace( ) may not be applied to a dynamic expression */
