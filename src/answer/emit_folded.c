/* emit_folded.c: answers of a trace as folded stacks: aggregations alone. */
#include "answer/emit_int.h"

static void folded_rest(struct an_emit *e)
{
	(void)e;
}

static void folded_agg(struct an_emit *e, const struct an_agg *a)
{
	an_folded_agg(e->to, a);
}

const struct an_ops an_folded_ops = {
	.rest = folded_rest, .agg = folded_agg, .note = an_say_note, .event = an_say_event, .again = true
};
