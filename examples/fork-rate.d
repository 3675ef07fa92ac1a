#!/usr/bin/env -S tally trace -s
/*
 * fork-rate.d: who makes processes and threads, and how many: it finds what a script starts in a loop.
 *
 *	$ tally trace -s fork-rate.d -c 'sh -c "i=0; while [ \$i -lt 50 ]; do /bin/true; i=\$((i+1)); done"'
 *	PROGRAM              PID PROCESSES   THREADS
 *	...
 *	sh               1093561        50         0
 *	...
 *
 * With -c it tells of the command and of what that starts, else of everybody, until Ctrl-C.
 */
#pragma D option quiet

proc:::create
/!$target || progenyof($target)/
{
	@processes[execname, pid] = sum(1);
	@threads[execname, pid] = sum(0);
}

proc:::lwp-create
/(!$target || progenyof($target)) && args[0]->pr_lwpid != args[1]->pr_pid/
{
	@processes[execname, pid] = sum(0);
	@threads[execname, pid] = sum(1);
}

END
{
	printf("%-16s %7s %9s %9s\n", "PROGRAM", "PID", "PROCESSES", "THREADS");
	printa("%-16s %7d %@9d %@9d\n", @processes, @threads);
}
