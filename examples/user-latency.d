#!/usr/bin/env -S tally trace -s
/*
 * user-latency.d: how long the calls of functions take, in nanoseconds.
 *
 *	tally trace -s user-latency.d -c COMMAND 'FUNCTION'
 *
 * FUNCTION may be a pattern: 'parse_*'. A call within a call of the same function is a part of the outer one.
 */
#pragma D option quiet

pid$target:a.out:$1:entry
/!self->depth[probefunc]++/
{
	self->since[probefunc] = timestamp;
}

pid$target:a.out:$1:return
/self->depth[probefunc] && !--self->depth[probefunc]/
{
	@ns[probefunc] = quantize(timestamp - self->since[probefunc]);
	self->since[probefunc] = 0;
}
