#!/usr/bin/env -S tally trace -s
/*
 * By which way did the programs called "foo" come to cause an event?  The event
 * is a page fault in user mode here; hardware/foo-stacks.d has level 1
 * instruction cache misses.  A stack says that foo caused between 1 and 5003
 * faults near it.
 */
cpc:::page_faults-user-5003
/execname == "foo"/
{
	@[ustack()] = count();
}
