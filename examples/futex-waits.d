#!/usr/bin/env -S tally trace -s
/*
 * futex-waits.d: where the threads of a program wait for one another: mutexes, conditions, threads that end.
 *
 *	$ tally trace -s futex-waits.d -c 'threads 8 20 50'
 *	...
 *	MICROSECONDS OF WAITING, BY STACK
 *	...
 *	              libc.so.6`__futex_abstimed_wait_common+0xc6
 *	...
 *
 * With -c it tells of the command and of what that starts, else of everybody, until Ctrl-C.
 */
#pragma D option quiet

syscall::futex:entry
/(!$target || progenyof($target)) && ((arg1 & 0x7f) == 0 || (arg1 & 0x7f) == 9)/
{
	self->since = timestamp; /* FUTEX_WAIT, FUTEX_WAIT_BITSET */
}

syscall::futex:return
/self->since/
{
	@us[execname, ustack(8)] = sum((timestamp - self->since) / 1000);
	self->since = 0;
}

END
{
	trunc(@us, 5);
	printf("MICROSECONDS OF WAITING, BY STACK\n");
	printa("%s%k%@16d\n\n", @us);
}
