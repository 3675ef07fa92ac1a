#!/usr/bin/env -S tally trace -s
/*
 * call-faults.d: page faults in system calls, by program and call.
 *
 *	tally trace -s call-faults.d -c COMMAND
 *
 * vcounter() is what this thread has counted, so faults of others are not in it, though they may
 * have had the CPU meanwhile. On a machine with a PMU "instructions" or "cache-misses" may stand there.
 */
#pragma D option quiet

syscall:::entry
/progenyof($target)/
{
	self->before = vcounter("page-faults");
	self->inside = 1;
}

syscall:::return
/self->inside/
{
	@faults[procname, probefunc] = sum(vcounter("page-faults") - self->before);
	self->inside = 0;
}

END
{
	trunc(@faults, 5);
	printf("%-16s %-16s %s\n", "PROGRAM", "CALL", "FAULTS");
	printa("%-16s %-16s %@d\n", @faults);
}
