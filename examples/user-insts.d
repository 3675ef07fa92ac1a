#!/usr/bin/env -S tally trace -s
/*
 * Which programs use the CPU in user mode?  Fires once for every millisecond
 * of CPU time that passes in user mode; the ten busiest programs are shown.
 *
 * Counting instructions instead needs a hardware counter: hardware/user-insts.d
 */
cpc:::cpu_clock-user-1000000
{
	@[execname] = count();
}

END
{
	trunc(@, 10);
}
