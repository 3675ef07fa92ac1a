#!/usr/bin/env -S tally trace -s
/*
 * file-bytes.d: how many bytes are read from and written to which files, by which programs.
 *
 *	$ tally trace -s file-bytes.d -c 'dd if=/dev/zero of=/dev/null bs=4k count=100 status=none'
 *	PROGRAM          CALL           BYTES FILE
 *	...
 *	dd               read          409600 /dev/zero
 *	dd               write         409600 /dev/null
 *	...
 *
 * With -c it tells of the command and of what that starts, else of everybody, until Ctrl-C. Bytes that are mapped, or that
 * sendfile(2) moves, are not among them.
 */
#pragma D option quiet

syscall::read:entry, syscall::pread64:entry, syscall::readv:entry, syscall::write:entry, syscall::pwrite64:entry,
syscall::writev:entry
/!$target || progenyof($target)/
{
	self->fd = arg0 + 1;
}

syscall::read:return, syscall::pread64:return, syscall::readv:return, syscall::write:return, syscall::pwrite64:return,
syscall::writev:return
/self->fd && (int64_t)arg1 > 0/
{
	@bytes[procname, probefunc, fds[self->fd - 1].fi_pathname] = sum(arg1);
}

syscall::read:return, syscall::pread64:return, syscall::readv:return, syscall::write:return, syscall::pwrite64:return,
syscall::writev:return
{
	self->fd = 0;
}

END
{
	trunc(@bytes, 20);
	printf("%-16s %-9s %10s %s\n", "PROGRAM", "CALL", "BYTES", "FILE");
	printa("%-16s %-9s %@10d %s\n", @bytes);
}
