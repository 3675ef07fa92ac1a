#!/usr/bin/env -S tally trace -s
/*
 * syncs.d: who waits for the disk to have everything, and for how long: sync(2), fsync(2) and the like.
 *
 *	$ tally trace -s syncs.d -c 'dd if=/dev/zero of=out bs=64k count=4 conv=fsync status=none'
 *	PROGRAM              PID CALL               MICROSECONDS FILE
 *	dd               1093531 fsync                      3126 out
 *	...
 *
 * With -c it tells of the command and of what that starts, else of everybody, until Ctrl-C.
 */
#pragma D option quiet

BEGIN
{
	printf("%-16s %7s %-16s %14s %s\n", "PROGRAM", "PID", "CALL", "MICROSECONDS", "FILE");
}

syscall::sync:entry
/!$target || progenyof($target)/
{
	self->since = timestamp;
	self->fd = -1;
}

syscall::fsync:entry, syscall::fdatasync:entry, syscall::syncfs:entry, syscall::sync_file_range:entry
/!$target || progenyof($target)/
{
	self->since = timestamp;
	self->fd = arg0;
}

syscall::sync:return, syscall::fsync:return, syscall::fdatasync:return, syscall::syncfs:return,
syscall::sync_file_range:return
/self->since/
{
	printf("%-16s %7d %-16s %14d %s\n", procname, pid, probefunc, (timestamp - self->since) / 1000,
	    fds[self->fd].fi_name);
	self->since = 0;
}
