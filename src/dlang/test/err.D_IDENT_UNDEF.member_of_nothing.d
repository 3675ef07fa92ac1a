BEGIN
{
	trace(nobody->cpu_id);
}
/* expect-error 3: D_IDENT_UNDEF failed to resolve nobody: Unknown variable name */
