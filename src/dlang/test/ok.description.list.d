BEGIN, END,
	cpc:::cpu_clock-all-$1,
tick-1s
{
	trace(probename);
}
/* expect-type probe cpc:::cpu_clock-all-7 */
/* expect-type probe :::tick-1s */
