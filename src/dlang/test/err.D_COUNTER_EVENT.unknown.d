BEGIN
{
	trace(vcounter("event one"));
	trace(counter("evnet"));
}
/* expect-error 4: D_COUNTER_EVENT counter( ): no event "evnet" */
