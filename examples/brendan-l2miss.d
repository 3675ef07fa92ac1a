#!/usr/bin/env -S tally trace -s
/*
 * Which functions of the programs called "brendan" cause an event?  Here the
 * event is a page fault in user mode, and the probe fires on each 503rd: a
 * prime, so that a program that faults in a fixed rhythm is sampled fairly.
 *
 * The same for level 2 cache misses: hardware/brendan-l2miss.d
 */
#pragma D option dcpc_min_overflow=500

cpc:::page_faults-user-503
/execname == "brendan"/
{
	@[ufunc(arg1)] = count();
}
