#!/usr/bin/env -S tally trace -s
/*
 * softirqs.d: how often the kernel does the second part of interrupts, how long in all, and how long at most, in microseconds.
 *
 *	$ tally trace -s softirqs.d -c 'sleep 0.5'
 *	KIND          TIMES        TOTAL      LONGEST
 *	...
 *	timer            77          210            8
 *	...
 *
 * The command gives the time in which it looks. While they run, programs of that CPU wait.
 */
#pragma D option quiet

uint64_t since[int];

inline string kind[int n] = n == 0 ? "high" : n == 1 ? "timer" : n == 2 ? "send" : n == 3 ? "receive" : n == 4 ? "block" :
    n == 5 ? "poll" : n == 6 ? "tasklet" : n == 7 ? "sched" : n == 8 ? "hrtimer" : "rcu";

sdt:::softirq_entry
{
	since[cpu] = timestamp;
}

sdt:::softirq_exit
/since[cpu]/
{
	this->us = (timestamp - since[cpu]) / 1000;
	@times[kind[args[0]]] = count();
	@total[kind[args[0]]] = sum(this->us);
	@longest[kind[args[0]]] = max(this->us);
	since[cpu] = 0;
}

END
{
	printf("%-8s %10s %12s %12s\n", "KIND", "TIMES", "TOTAL", "LONGEST");
	printa("%-8s %@10d %@12d %@12d\n", @times, @total, @longest);
}
