BEGIN
/nowhere != 0/
{
	exit(nowhere);
}
/* expect-error 2: D_IDENT_UNDEF failed to resolve nowhere: Unknown variable name */
