#!/usr/bin/env -S tally trace -s
/*
 * wakers.d: whose work lets others go on: who wakes whom, and how often.
 *
 *	$ tally trace -s wakers.d -c 'sh -c "dd if=/dev/zero bs=1M count=50 status=none | cat >/dev/null"'
 *	PROGRAM          WAKES               TIMES
 *	...
 *	cat              dd                    797
 *	...
 *
 * With -c it tells of the command and of what that starts, else of everybody, until Ctrl-C.
 */
#pragma D option quiet

sched:::wakeup
/!$target || progenyof($target)/
{
	@times[execname, args[1]->pr_fname] = count();
}

END
{
	trunc(@times, 20);
	printf("%-16s %-16s %8s\n", "PROGRAM", "WAKES", "TIMES");
	printa("%-16s %-16s %@8d\n", @times);
}
