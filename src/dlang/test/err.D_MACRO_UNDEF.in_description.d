cpc:::cpu_clock-user-$9
{
	trace(1);
}
/* expect-error 1: D_MACRO_UNDEF macro argument $9 is not defined */
