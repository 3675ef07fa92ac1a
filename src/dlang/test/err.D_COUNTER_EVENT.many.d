BEGIN
{
	trace(counter("event1")); trace(counter("event2")); trace(counter("event3")); trace(counter("event4"));
	trace(counter("event5")); trace(counter("event6")); trace(counter("event7")); trace(counter("event8"));
	trace(vcounter("event1")); trace(vcounter("event2")); trace(vcounter("event3")); trace(vcounter("event4"));
	trace(vcounter("event5")); trace(vcounter("event6")); trace(vcounter("event7")); trace(vcounter("event8"));
	trace(vcounter("event8"));
	trace(vcounter("event9"));
}
/* expect-error 8: D_COUNTER_EVENT vcounter( ): the program reads more than 16 counters */
