#!/usr/bin/env -S tally trace -s
/*
 * stat-files.d: of which files is asked whether they are there, and how often they are not.
 *
 *	$ tally trace -s stat-files.d -c 'sh -c "for i in 1 2 3; do [ -e /etc/passwd ] && [ -e /nonexistent ]; done; true"'
 *	PROGRAM             FOUND  MISSING PATH
 *	...
 *	sh                      0        3 /nonexistent
 *	...
 *	sh                      3        0 /etc/passwd
 *	...
 *
 * With -c it tells of the command and of what that starts, else of everybody, until Ctrl-C. A program that asks in vain
 * all the time is looking for its files in the wrong place.
 */
#pragma D option quiet

syscall::stat:entry, syscall::lstat:entry, syscall::access:entry
/!$target || progenyof($target)/
{
	self->path = arg0;
}

syscall::newfstatat:entry, syscall::faccessat:entry, syscall::faccessat2:entry, syscall::statx:entry
/!$target || progenyof($target)/
{
	self->path = arg1;
}

syscall::stat:return, syscall::lstat:return, syscall::access:return, syscall::newfstatat:return,
syscall::faccessat:return, syscall::faccessat2:return, syscall::statx:return
/self->path/
{
	@found[procname, copyinstr(self->path)] = sum(!errno);
	@missing[procname, copyinstr(self->path)] = sum(errno == ENOENT);
	self->path = 0;
}

END
{
	printf("%-16s %8s %8s %s\n", "PROGRAM", "FOUND", "MISSING", "PATH");
	printa("%-16s %@8d %@8d %s\n", @found, @missing);
}
