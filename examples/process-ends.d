#!/usr/bin/env -S tally trace -s
/*
 * process-ends.d: how processes end, and how long they lived.
 *
 *	$ tally trace -s process-ends.d -c 'taskset -c 0 sh -c "(exit 3); sh -c \"kill -9 \\\$\\\$\"; sleep 0.1; true"'
 *	PROGRAM              PID           MS REASON
 *	sh               1093544            0 exit 3
 *	sh               1093545            1 signal 9
 *	sleep            1093546          101 exit 0
 *	...
 *
 * With -c it tells of the command and of what that starts, else of everybody, until Ctrl-C. Here all is on one CPU: lines of
 * several may come in another order, by up to a second.
 */
#pragma D option quiet

BEGIN
{
	printf("%-16s %7s %12s %s\n", "PROGRAM", "PID", "MS", "REASON");
}

proc:::exit
/!$target || progenyof($target)/
{
	this->code = curthread->signal->group_exit_code ? curthread->signal->group_exit_code : curthread->exit_code;
	printf("%-16s %7d %12d %s%s %d\n", execname, pid, (timestamp - curthread->group_leader->start_time) / 1000000,
	    args[0] == CLD_EXITED ? "exit" : "signal", args[0] == CLD_DUMPED ? ", dumped," : "",
	    args[0] == CLD_EXITED ? (this->code >> 8) & 0xff : this->code & 0x7f);
}
