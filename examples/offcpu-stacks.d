#!/usr/bin/env -S tally trace -qs
/*
 * offcpu-stacks.d: where a program's threads wait, and for how long.
 *
 *	tally trace -s offcpu-stacks.d -c COMMAND
 *
 * The clock runs from the moment when a thread is switched from until it is switched to. Its kernel stack then is where it
 * was switched from.
 */
#pragma D option quiet

sched:::off-cpu
/pid == $target/
{
	self->since = timestamp;
}

sched:::on-cpu
/self->since/
{
	@waited[execname, stack(12)] = sum((timestamp - self->since) / 1000);
	self->since = 0;
}

END
{
	trunc(@waited, 10);
	printf("MICROSECONDS OFF CPU, BY STACK\n");
	printa("%s%k%@16d\n\n", @waited);
}
