#!/usr/bin/env -S tally trace -s
/*
 * slow-calls.d: system calls that take 10 milliseconds or more, as they end.
 *
 *	$ tally trace -s slow-calls.d -c 'taskset -c 0 sh -c "sleep 0.05; sleep 0.02; true"'
 *	PROGRAM              PID CALL                   MS
 *	sleep            1093482 clock_nanosleep        50
 *	sh               1093480 wait4                  51
 *	sleep            1093483 clock_nanosleep        20
 *	sh               1093480 wait4                  21
 *	...
 *
 * With -c it tells of the command and of what that starts, else of everybody, until Ctrl-C.
 */
#pragma D option quiet

BEGIN
{
	printf("%-16s %7s %-16s %8s\n", "PROGRAM", "PID", "CALL", "MS");
}

syscall:::entry
/!$target || progenyof($target)/
{
	self->since = timestamp;
}

syscall:::return
/self->since && timestamp - self->since >= 10000000/
{
	printf("%-16s %7d %-16s %8d\n", procname, pid, probefunc, (timestamp - self->since) / 1000000);
}
