/* with kernel */
BEGIN
{
	trace(`jiffie);
}
/* expect-error 4: D_IDENT_UNDEF failed to resolve `jiffie: Unknown symbol name */
