BEGIN
{
	width = 1;
}

BEGIN
{
	trace(witdh);
}
/* expect-error 8: D_IDENT_UNDEF failed to resolve witdh: Unknown variable name; did you mean width? */
