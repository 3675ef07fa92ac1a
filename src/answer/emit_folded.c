/* emit_folded.c: answers of a trace as folded stacks: aggregations, merged; what the program prints goes where people
 * read. */
#include "answer/emit_int.h"

void an_flame_agg(struct an_emit *e, const struct an_agg *a)
{
	struct buf words = { 0 };

	if (an_flame_takes(a)) {
		an_flame_add(&e->flame, a);
	} else {
		an_flame_label(&words, a);
		buf_printf(&words, " is left out: %s() of a caller is not the sum of that of its callees",
			   an_agg_function(a->fn));
		e->to->failed |= words.failed;
		an_say_note(e, words.p ? words.p : "", words.n);
		buf_free(&words);
	}
	e->to->failed |= e->flame.failed;
}

void an_flame_end(struct an_emit *e)
{
	(void)an_flame_leave_out_negative(&e->flame);
	for (uint32_t i = 0; i < e->flame.ntrees; i++) {
		const struct an_flame_tree *t = &e->flame.tree[i];
		struct buf words = { 0 };

		if (!t->negative)
			continue;
		buf_printf(&words, "%llu path%s of %s left out: a sum below 0 has no width",
			   (unsigned long long)t->negative, t->negative == 1 ? "" : "s", t->label);
		e->to->failed |= words.failed;
		e->ops->note(e, words.p ? words.p : "", words.n);
		buf_free(&words);
	}
	an_flame_sort(&e->flame);
}

static void folded_finish(struct an_emit *e, struct buf *to)
{
	an_flame_end(e);
	to->failed |= e->flame.failed;
	if (!to->failed)
		an_folded_put(to, &e->flame);
}

const struct an_ops an_folded_ops = {
	AN_TEXT_BESIDE, .agg = an_flame_agg, .note = an_say_note, .event = an_say_event, .finish = folded_finish,
};
