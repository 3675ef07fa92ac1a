BEGIN
{
	x = $9;
}
/* expect-error 3: D_MACRO_UNDEF macro argument $9 is not defined */
