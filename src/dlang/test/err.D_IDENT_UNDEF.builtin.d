BEGIN
{
	trace(execnam);
}
/* expect-error 3: D_IDENT_UNDEF failed to resolve execnam: Unknown variable name; did you mean execname? */
