#!/usr/bin/env -S tally trace -s
/*
 * callers.d: who calls a function, by user stack.
 *
 *	$ tally trace -s callers.d -c 'functions 1000' step
 *	...
 *	              functions`step
 *	              functions`main+0x2a3
 *	...
 *	             1000
 *	...
 *
 * The function may be a pattern: 'parse_*'. `-p PID` asks a process that runs.
 */
#pragma D option quiet

pid$target:a.out:$1:entry
{
	@[ustack(10)] = count();
}
