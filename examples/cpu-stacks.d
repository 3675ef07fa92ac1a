#!/usr/bin/env -S tally trace -s
/*
 * cpu-stacks.d: where programs compute: their user stacks, sampled 997 times a second on each CPU.
 *
 *	$ tally trace -s cpu-stacks.d -c 'brendan 60000'
 *	...
 *	  brendan
 *	...
 *	              brendan`func_gamma+0x3f
 *	              libc.so.6`__libc_start_call_main+0x7a
 *	...
 *	               14
 *	...
 *
 * With -c it tells of the command and of what that starts, else of everybody, until Ctrl-C. `-o stacks.folded` and `-o
 * stacks.html` draw them. A stack is whole where programs and libraries are compiled with frame pointers.
 */
#pragma D option quiet

profile-997
/arg1 && (!$target || progenyof($target))/
{
	@[procname, ustack(20)] = count();
}

END
{
	trunc(@, 10);
}
