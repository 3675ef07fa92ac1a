#!/usr/bin/env -S tally trace -s
/*
 * sleeps.d: which programs wait for the clock, from where in their code, and for how long.
 *
 *	$ tally trace -s sleeps.d -c 'sleep 0.05'
 *	PROGRAM, STACK                                          TIMES           MS
 *	sleep
 *	...
 *	                                                            1           50
 *	...
 *
 * With -c it tells of the command and of what that starts, else of everybody, until Ctrl-C. A loop that sleeps and
 * looks again should wait for what it looks for.
 */
#pragma D option quiet

syscall::nanosleep:entry, syscall::clock_nanosleep:entry
/!$target || progenyof($target)/
{
	self->since = timestamp;
}

syscall::nanosleep:return, syscall::clock_nanosleep:return
/self->since/
{
	@times[execname, ustack(8)] = count();
	@ms[execname, ustack(8)] = sum((timestamp - self->since) / 1000000);
	self->since = 0;
}

END
{
	printf("%-48s %12s %12s\n", "PROGRAM, STACK", "TIMES", "MS");
	printa("%s%k%@61d %@12d\n", @times, @ms);
}
