#!/usr/bin/env -S tally trace -s
/*
 * Where does the kernel spend its time?  Fires once for every millisecond of
 * CPU time that passes in the kernel, and counts by kernel function.
 *
 * Counting cycles instead needs a hardware counter: hardware/kerncycprof.d
 */
cpc:::cpu_clock-kernel-1000000
{
	@[func(arg0)] = count();
}
