BEGIN
{
	@[comm] = count();
}
/* expect-error 3: D_IDENT_UNDEF failed to resolve comm: Unknown variable name; did you mean execname? */
