BEGIN
{
	x = $nosuch;
}
/* expect-error 3: D_MACRO_UNDEF macro variable $nosuch is not defined */
