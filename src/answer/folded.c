/*
 * folded.c: aggregations as folded stacks, the input of flame graphs: names
 * from the outermost to the innermost joined by ';', a blank, a number.
 *
 * The bottom of a flame is who (strings, numbers), on it what user code did, on
 * that what the kernel did for it; so the keys are taken in that order, whatever
 * their order in the tuple.  Frames lose their offset where the function's name
 * is known: one function is one box.  ';' inside a name would split it, so it
 * becomes ':'; control characters would end the line and become '?'.
 */
#include "answer/answer_int.h"

static void folded_put_name(struct buf *to, bool *first, const char *s)
{
	if (!*first)
		buf_putc(to, ';');
	*first = false;
	an_clean(to, s, ";");
}

static void folded_put_plain(struct buf *to, bool *first, const struct an_value *v)
{
	struct buf bare = { 0 };
	an_bare(&bare, v);
	folded_put_name(to, first, bare.p != NULL ? bare.p : "");
	to->failed |= bare.failed;
	buf_free(&bare);
}

static void folded_put_stack(struct buf *to, bool *first, const struct an_value *v)
{
	for (uint32_t i = v->nframes; i > 0; i--) {
		const char *func = v->func != NULL ? v->func[i - 1] : NULL;
		folded_put_name(to, first, func != NULL ? func : v->frame[i - 1]);
	}
}

static void folded_put_keys(struct buf *to, const struct an_row *r, bool *first)
{
	for (uint32_t k = 0; k < r->nkeys; k++)
		if (!an_is_stack(&r->key[k]))
			folded_put_plain(to, first, &r->key[k]);
	for (uint32_t k = 0; k < r->nkeys; k++)
		if (r->key[k].kind == SLOT_USTACK)
			folded_put_stack(to, first, &r->key[k]);
	for (uint32_t k = 0; k < r->nkeys; k++)
		if (r->key[k].kind == SLOT_KSTACK)
			folded_put_stack(to, first, &r->key[k]);
}

/* How wide the flame is. */
static int64_t folded_row_width(const struct an_agg *a, const struct an_row *r)
{
	uint64_t total = 0;
	if (!an_is_hist(a))
		return an_agg_value(a, r);
	for (uint32_t b = 0; b < r->nbuckets; b++)
		total += (uint64_t)an_hist_count(r, b);
	return an_normalized(a, (int64_t)total);
}

void an_folded_agg(struct buf *to, const struct an_agg *a)
{
	for (uint32_t i = 0; i < a->nrows; i++) {
		struct an_value v = { .kind = SLOT_INT, .width = 8, .is_signed = an_agg_signed(a) };
		bool first = true;
		folded_put_keys(to, &a->row[i], &first);
		if (first) /* nothing to call it by */
			buf_printf(to, "@%s", a->name);
		v.i = folded_row_width(a, &a->row[i]);
		buf_putc(to, ' ');
		an_decimal(to, &v, 0);
		buf_putc(to, '\n');
	}
}
