#!/usr/bin/env -S tally trace -s
/*
 * call-counts.d: which system calls are made most, and by which programs.
 *
 *	$ tally trace -s call-counts.d -c 'dd if=/dev/zero of=/dev/null bs=1k count=3000 status=none'
 *	PROGRAM          CALL                 COUNT
 *	dd               read                  3003
 *	dd               write                 3000
 *	...
 *
 * With -c it tells of the command and of what that starts, else of everybody, until Ctrl-C.
 */
#pragma D option quiet
#pragma D option aggsortrev

syscall:::entry
/!$target || progenyof($target)/
{
	@calls[procname, probefunc] = count();
}

END
{
	trunc(@calls, 20);
	printf("%-16s %-16s %9s\n", "PROGRAM", "CALL", "COUNT");
	printa("%-16s %-16s %@9d\n", @calls);
}
