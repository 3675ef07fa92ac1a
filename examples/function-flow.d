#!/usr/bin/env -S tally trace -s
/*
 * function-flow.d: the calls and returns of a program's own functions, in their order.
 *
 *	$ tally trace -s function-flow.d -c 'functions 1'
 *	1
 *	CPU FUNCTION
 *	  0  -> main
 *	  0    -> ten
 *	  0    <- ten
 *	  0    -> run
 *	  0      -> step
 *	  0      <- step
 *	  0    <- run
 *	  0  <- main
 *	...
 *
 * Of a program with several threads the lines of all stand one among the others: add /tid == N/.
 */
#pragma D option flowindent

pid$target:a.out:main:entry
{
	self->inside = 1;
}

pid$target:a.out::entry, pid$target:a.out::return
/self->inside/
{
}

pid$target:a.out:main:return
{
	self->inside = 0;
}
