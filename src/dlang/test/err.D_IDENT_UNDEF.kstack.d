BEGIN
{
	@[kstack] = count();
}
/* expect-error 3: D_IDENT_UNDEF failed to resolve kstack: Unknown variable name; did you mean stack()? */
