#!/usr/bin/env -S tally trace -s
/*
 * call-latency.d: how long each kind of system call takes: how often, in all, and the longest, in microseconds.
 *
 *	$ tally trace -s call-latency.d -c 'sh -c "sleep 0.1; dd if=/dev/zero of=/dev/null count=1000 status=none"'
 *	CALL                 COUNT        TOTAL      LONGEST
 *	...
 *	clock_nanosleep          1       100070       100070
 *	...
 *	write                 1000         2148           41
 *	...
 *
 * With -c it tells of the command and of what that starts, else of everybody, until Ctrl-C. A call that waits takes as long as
 * it waits.
 */
#pragma D option quiet

syscall:::entry
/!$target || progenyof($target)/
{
	self->since = timestamp;
}

syscall:::return
/self->since/
{
	this->us = (timestamp - self->since) / 1000;
	@count[probefunc] = count();
	@total[probefunc] = sum(this->us);
	@longest[probefunc] = max(this->us);
	self->since = 0;
}

END
{
	printf("%-16s %9s %12s %12s\n", "CALL", "COUNT", "TOTAL", "LONGEST");
	printa("%-16s %@9d %@12d %@12d\n", @count, @total, @longest);
}
