#!/usr/bin/env -S tally trace -s
/*
 * user-calls.d: how often each function of a program is called.
 *
 *	tally trace -s user-calls.d -c COMMAND
 *
 * pid$target:libc::entry in place of a.out counts those of the C library.
 */
#pragma D option quiet

pid$target:a.out::entry
{
	@calls[probefunc] = count();
}

END
{
	trunc(@calls, 10);
	printf("%-32s %10s\n", "FUNCTION", "CALLS");
	printa("%-32s %@10d\n", @calls);
}
