BEGIN
{
	@[probe] = count();
}
/* expect-error 3: D_IDENT_UNDEF failed to resolve probe: Unknown variable name; did you mean probename? */
