#!/usr/bin/env -S tally trace -s
/*
 * call-errors.d: which system calls fail, with which error, and how often.
 *
 *	$ tally trace -s call-errors.d -c 'sh -c "cat /nonexistent/a /nonexistent/b /etc 2>/dev/null || true"'
 *	PROGRAM          CALL             ERROR     COUNT
 *	...
 *	cat              read             EISDIR        1
 *	...
 *	cat              openat           ENOENT        2
 *	...
 *
 * With -c it tells of the command and of what that starts, else of everybody, until Ctrl-C. An error that stands there as a number is
 * one of errno(3) that has no name below.
 */
#pragma D option quiet

inline string error_name[int e] = e == EPERM ? "EPERM" : e == ENOENT ? "ENOENT" : e == EINTR ? "EINTR" :
    e == EBADF ? "EBADF" : e == ECHILD ? "ECHILD" : e == EAGAIN ? "EAGAIN" : e == EACCES ? "EACCES" :
    e == EEXIST ? "EEXIST" : e == ENOTDIR ? "ENOTDIR" : e == EISDIR ? "EISDIR" : e == EINVAL ? "EINVAL" :
    e == ENOTTY ? "ENOTTY" : e == ENOSYS ? "ENOSYS" : lltostr(e);

syscall:::return
/errno && (!$target || progenyof($target))/
{
	@failed[procname, probefunc, error_name[errno]] = count();
}

END
{
	printf("%-16s %-16s %-8s %6s\n", "PROGRAM", "CALL", "ERROR", "COUNT");
	printa("%-16s %-16s %-8s %@6d\n", @failed);
}
