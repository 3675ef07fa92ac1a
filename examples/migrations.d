#!/usr/bin/env -S tally trace -s
/*
 * migrations.d: which threads are moved from one CPU to another, and how often.
 *
 *	$ tally trace -s migrations.d -c 'sh -c "taskset -c 0 taskset -c 1 taskset -c 0 taskset -c 1 true"'
 *	PROGRAM             FROM     TO   TIMES
 *	...
 *	taskset                0      1       2
 *	...
 *
 * The command gives the time in which it looks; it tells of all programs. A thread that is moved leaves its cache behind.
 */
#pragma D option quiet

sdt:::sched_migrate_task
{
	@times[stringof(args[0]->comm), args[0]->thread_info.cpu, args[1]] = count();
}

END
{
	trunc(@times, 20);
	printf("%-16s %6s %6s %7s\n", "PROGRAM", "FROM", "TO", "TIMES");
	printa("%-16s %6d %6d %@7d\n", @times);
}
