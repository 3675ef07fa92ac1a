#!/usr/bin/env -S tally trace -s
/*
 * fs-latency.d: how long reads and writes take, by type of file system, in nanoseconds.
 *
 *	$ tally trace -s fs-latency.d -c 'dd if=/dev/zero of=/dev/null bs=4k count=500 status=none'
 *	...
 *	  devtmpfs                                            read
 *	           value  ------------- Distribution ------------- count
 *	...
 *	            1024 |@@@@@@@@@@@@@@@@@@@@@@@@                 300
 *	...
 *
 * With -c it tells of the command and of what that starts, else of everybody, until Ctrl-C. Pipes and sockets are file systems, too.
 */
#pragma D option quiet

syscall::read:entry, syscall::write:entry, syscall::pread64:entry, syscall::pwrite64:entry
/!$target || progenyof($target)/
{
	self->since = timestamp;
	self->fd = arg0;
}

syscall::read:return, syscall::write:return, syscall::pread64:return, syscall::pwrite64:return
/self->since/
{
	@ns[fds[self->fd].fi_fs, probefunc] = quantize(timestamp - self->since);
	self->since = 0;
}
