BEGIN, END,
	cpc:::cpu_clock-all-$1,
tick-1s
{
	trace(probename);
}
