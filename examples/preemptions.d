#!/usr/bin/env -S tally trace -s
/*
 * preemptions.d: who takes the CPU from whom: threads that could go on and had to make room for others.
 *
 *	$ tally trace -s preemptions.d -c 'taskset -c 0 sh -c "brendan 30000 & brendan 30000; wait"'
 *	PROGRAM          MAKES ROOM FOR      TIMES
 *	...
 *	brendan          brendan                 5
 *	...
 *
 * With -c it tells of the command and of what that starts, else of everybody, until Ctrl-C.
 */
#pragma D option quiet

rawtp:::sched_switch
/(args[0] || !args[3]) && args[1]->pid && (!$target || progenyof($target))/
{
	@times[stringof(args[1]->comm), stringof(args[2]->comm)] = count();
}

END
{
	trunc(@times, 20);
	printf("%-16s %-16s %8s\n", "PROGRAM", "MAKES ROOM FOR", "TIMES");
	printa("%-16s %-16s %@8d\n", @times);
}
