BEGIN
{
	prinf("x");
}
/* expect-error 3: D_FUNC_UNDEF undefined function name: prinf; did you mean printf()? */
