BEGIN
{
	trace(nosuch);
}
/* expect-error 3: D_IDENT_UNDEF failed to resolve nosuch: Unknown variable name */
