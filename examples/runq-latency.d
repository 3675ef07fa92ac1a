#!/usr/bin/env -S tally trace -qs
/*
 * runq-latency.d: how long threads that could run wait for a CPU, by program, for a second.
 *
 *	tally trace -s runq-latency.d
 *
 * A thread can run from when it is woken, or when it is preempted, until it is switched to.
 */
#pragma D option quiet

sched:::wakeup
{
	ready[args[0]->pr_lwpid] = timestamp;
}

sched:::preempt
{
	ready[tid] = timestamp;
}

sched:::on-cpu
/ready[tid]/
{
	@all["nanoseconds of waiting for a CPU"] = quantize(timestamp - ready[tid]);
	@longest[execname] = max(timestamp - ready[tid]);
	ready[tid] = 0;
}

tick-1s
{
	exit(0);
}

END
{
	printa(@all);
	trunc(@longest, 10);
	printf("%-16s %12s\n", "PROGRAM", "LONGEST ns");
	printa("%-16s %@12d\n", @longest);
}
