#!/usr/bin/env -S tally trace -s
/* Stacks of the programs called "foo" at every 10000th level 1 instruction cache miss in user mode. */
cpc:::PAPI_l1_icm-user-10000
/execname == "foo"/
{
	@[ustack()] = count();
}
