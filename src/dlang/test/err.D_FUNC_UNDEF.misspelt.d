BEGIN
{
	prntf("x");
}
/* expect-error 3: D_FUNC_UNDEF undefined function name: prntf; did you mean printf()? */
