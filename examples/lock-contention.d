#!/usr/bin/env -S tally trace -s
/*
 * lock-contention.d: on which locks of the kernel threads wait for one another: who waited, from where, how often, how long at most.
 *
 *	$ tally trace -s lock-contention.d -c 'sh -c "dd if=/dev/zero of=/dev/null count=2000 status=none | cat"'
 *	NANOSECONDS OF WAITING, BY PROGRAM AND STACK
 *	...
 *
 * The command gives the time in which it looks; it tells of all programs. A lock that nobody has to wait for is not seen.
 */
#pragma D option quiet

sdt:::contention_begin
{
	self->since = timestamp;
}

sdt:::contention_end
/self->since/
{
	@ns[execname, stack(6)] = sum(timestamp - self->since);
	self->since = 0;
}

END
{
	trunc(@ns, 5);
	printf("NANOSECONDS OF WAITING, BY PROGRAM AND STACK\n");
	printa("%s%k%@16d\n\n", @ns);
}
