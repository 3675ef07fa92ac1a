#!/usr/bin/env -S tally trace -s
/*
 * open-files.d: which files are opened, by whom, and what failed with which error.
 *
 *	$ tally trace -s open-files.d -c 'sh -c "cat /etc/passwd /nonexistent >/dev/null || true"'
 *	PROGRAM              PID  ERROR PATH
 *	...
 *	cat              1093447      0 /etc/passwd
 *	cat              1093447      2 /nonexistent
 *	...
 *
 * With -c it tells of the command and of what that starts, else of everybody, until Ctrl-C. The path is read when the call ends: before
 * that it may lie in memory that the process has not touched.
 */
#pragma D option quiet

BEGIN
{
	printf("%-16s %7s %6s %s\n", "PROGRAM", "PID", "ERROR", "PATH");
}

syscall::open:entry
/!$target || progenyof($target)/
{
	self->path = arg0;
}

syscall::openat:entry
/!$target || progenyof($target)/
{
	self->path = arg1;
}

syscall::open:return, syscall::openat:return
/self->path/
{
	printf("%-16s %7d %6d %s\n", procname, pid, errno, copyinstr(self->path));
	self->path = 0;
}
