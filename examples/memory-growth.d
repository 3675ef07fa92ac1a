#!/usr/bin/env -S tally trace -s
/*
 * memory-growth.d: how much address space a program takes from the kernel, by which call, and from where.
 *
 *	$ tally trace -s memory-growth.d -c 'sort /etc/passwd -o /dev/null'
 *	BYTES, BY STACK
 *	...
 *	sort
 *	...
 *
 * With -c it tells of the command and of what that starts, else of everybody, until Ctrl-C.
 */
#pragma D option quiet

syscall::mmap:entry
/(!$target || progenyof($target)) && arg3 & 0x20/
{
	@bytes[procname, ustack(8)] = sum(arg1); /* MAP_ANONYMOUS */
}

syscall::brk:entry
/(!$target || progenyof($target)) && arg0 > curthread->mm->brk/
{
	@bytes[procname, ustack(8)] = sum(arg0 - curthread->mm->brk);
}

END
{
	trunc(@bytes, 5);
	printf("BYTES, BY STACK\n");
	printa("%s%k%@16d\n\n", @bytes);
}
