/*
 * stack.c: stacks as lines, innermost frame first.  They begin on a line of
 * their own and end with a newline, so that what follows (the value of an
 * aggregation) starts at the margin.  Names in frames come from files that
 * anybody may have written, so control characters are replaced.
 */
#include "answer/answer_int.h"

void an_stack(struct buf *to, const struct an_value *v, unsigned indent)
{
	buf_putc(to, '\n');
	for (uint32_t i = 0; i < v->nframes; i++) {
		buf_printf(to, "%*s", (int)indent, "");
		an_clean(to, v->frame[i], "");
		buf_putc(to, '\n');
	}
}
