BEGIN
{
	x = x + 1;
}
/* expect-error 3: D_VAR_UNDEF x has not yet been declared or assigned */
