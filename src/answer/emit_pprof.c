/* emit_pprof.c: answers of a trace as a profile of pprof: aggregations; what was lost and said stands in its
 * comments. */
#include "answer/emit_int.h"

#define COMMENTS_KEPT 100u /* a script may say something at each firing */

static void pprof_note(struct an_emit *e, const char *s, size_t n)
{
	if (e->ncomments < COMMENTS_KEPT) {
		const char **comment = VEC_NEW(e->comment, e->ncomments, e->capcomments);

		if (comment)
			*comment = arena_strndup(&e->page.arena, s, n);
		e->page.arena.failed |= !comment;
	}
	an_say_note(e, s, n);
}

static void pprof_event(struct an_emit *e, const struct an_event *v, const char *words, size_t n)
{
	(void)v;
	pprof_note(e, words, n);
}

static void pprof_finish(struct an_emit *e, struct buf *to)
{
	an_flame_sort(&e->flame);
	e->about.comment = e->comment;
	e->about.ncomments = e->ncomments;
	to->failed |= e->flame.failed | e->page.arena.failed;
	if (!to->failed)
		an_pprof_put(to, &e->flame, &e->about);
}

const struct an_ops an_pprof_ops = {
	AN_TEXT_BESIDE,       .agg = an_flame_agg,    .note = pprof_note,
	.event = pprof_event, .finish = pprof_finish, .files = true,
};
