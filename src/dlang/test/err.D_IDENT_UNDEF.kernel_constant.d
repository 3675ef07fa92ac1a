/* with kernel */
BEGIN
{
	trace(STATE_ALIVE);
}
/* expect-error 4: D_IDENT_UNDEF failed to resolve STATE_ALIVE: Unknown variable name */
