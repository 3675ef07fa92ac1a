/*
 * stat_watch.c: counters for who looks at them when he likes, as a service does.
 *
 * It is a run of stat without its loop: opened, begun, read when asked.  A row becomes figures in one of two
 * places: the table of counts hands each row on (stat_table.c), and any other table says by its bits
 * which columns are whose and which are figures, so it is a form of answers like JSON.
 *
 * A model passes time here, whole milliseconds of it, so that `tally stat --duration` can say what it should have
 * counted.
 */
#include "ask/stat_cpu_int.h"
#include "kernel/kernel.h"

#define SLICE_NS UINT64_C(1000000)
#define EVERY_NS UINT64_C(1000000000)
#define PASS_NS (EVERY_NS / 10)      /* of the wall, that a pass takes at most */
#define VIEW_NS UINT64_C(1000000000) /* of the platform's time, that a view is over at least */

/* A watch of what tally_stat() counts. */
struct stat_watch {
	struct watch base; /* first */
	struct tally_platform *p;
	struct stat_all all;
	watch_take *take;
	void *arg;
	int rc;
};

/* ---- tables that are not of counts ------------------------------------------------------------ */

static void watch_begin_table(struct an_emit *e, struct an_rows *t, bool first)
{
	(void)e;
	(void)t;
	(void)first;
}

static void watch_end_table(struct an_emit *e, struct an_rows *t)
{
	(void)e;
	(void)t;
}

/* A cell as a label's value. */
static const char *watch_words(struct an_rows *t, uint32_t c, const struct an_cell *cell)
{
	return an_is_text(an_unit_of(cell, t->col[c].unit)) ? cell->s :
	       cell->none                                   ? "" :
							      arena_text(&t->words, "%llu", (unsigned long long)cell->u);
}

static void watch_record(struct an_emit *e, struct an_rows *t, const struct an_cell *row)
{
	struct stat_watch *w = e->arg;
	struct watch_figure f = { .unit = "" };

	for (uint32_t c = 0; c < t->ncols && f.nlabels < WATCH_LABELS; c++)
		if (t->keys >> c & 1)
			f.label[f.nlabels++] = (struct watch_label){ t->col[c].key, watch_words(t, c, &row[c]) };
	for (uint32_t c = 0; c < t->ncols && w->rc >= 0; c++) {
		if (!((t->figures | t->grows) >> c & 1))
			continue;
		f.family = arena_text(&t->words, "%s_%s", t->type, t->col[c].key);
		f.text = arena_text(&t->words, "%s: %s", t->col[c].title, t->about);
		f.unit = t->col[c].unit == AN_SHARE ? "ratio" : "";
		f.grows = t->grows >> c & 1;
		f.value = row[c];
		f.value.unit = an_unit_of(&row[c], t->col[c].unit);
		w->rc = w->take && !t->words.failed ? w->take(w->arg, &f) : 0;
	}
	e->to->failed |= t->words.failed;
}

static const struct an_ops watch_ops = {
	.begin = watch_begin_table, .record = watch_record, .end = watch_end_table, .programs = true
};

/* ---- the calls ---------------------------------------------------------------------------------- */

static int watch_take_count(void *arg, const struct watch_figure *f)
{
	struct stat_watch *w = arg;

	return w->take && f->family ? w->take(w->arg, f) : 0;
}

static struct stat_watch *stat_watch_of(struct watch *w)
{
	return (struct stat_watch *)w;
}

static void stat_watch_close(struct watch *base)
{
	struct stat_watch *w = stat_watch_of(base);

	stat_all_close(&w->all);
	tally_platform_close(w->p);
	mem_free(w);
}

static const char *stat_watch_error(const struct watch *base)
{
	const struct stat_watch *w = (const struct stat_watch *)base;

	return w->p ? tally_platform_error(w->p) : "";
}

static int stat_watch_pass(struct watch *base)
{
	struct stat_watch *w = stat_watch_of(base);
	struct stat_all *a = &w->all;
	struct hv_transport *l = a->run->transport;
	const uint64_t began = k_now_ns();
	int rc = plat_enter(w->p);

	if (rc >= 0 && a->cpu)
		rc = stat_cpu_wait(a->cpu, 0);
	while (rc >= 0 && l && l->op->advance && a->wall + a->passed + SLICE_NS <= began &&
	       k_now_ns() - began < PASS_NS && !(a->o.stop && *a->o.stop)) {
		rc = hv_pass(l, SLICE_NS, a->o.stop);
		a->passed += SLICE_NS;
	}
	return rc;
}

static bool stat_watch_is_due(const struct watch *base)
{
	const struct stat_watch *w = (const struct stat_watch *)base;
	const struct stat_run *s = w->all.run;

	return !s->view || hv_now(s->transport) - s->now >= VIEW_NS;
}

static int stat_watch_read(struct watch *base, watch_take *take, void *arg)
{
	struct stat_watch *w = stat_watch_of(base);
	int rc = plat_enter(w->p);

	w->take = take;
	w->arg = arg;
	w->rc = w->all.table.rc = 0;
	if (rc >= 0)
		rc = stat_all_read(&w->all);
	if (rc >= 0)
		rc = stat_all_show(&w->all, STAT_ONLY);
	w->take = NULL;
	return rc < 0 ? rc : w->rc < 0 ? w->rc : w->all.table.rc;
}

static double stat_watch_seconds(const struct watch *base)
{
	const struct stat_watch *w = (const struct stat_watch *)base;
	const struct stat_all *a = &w->all;

	return a->run->transport ? stat_seconds(a->run) : (double)cpu_since(a->cpu) / 1e9;
}

static const struct watch_ops stat_watch_ops = {
	.close = stat_watch_close,
	.error = stat_watch_error,
	.pass = stat_watch_pass,
	.is_due = stat_watch_is_due,
	.read = stat_watch_read,
	.seconds = stat_watch_seconds,
};

int watch_open(struct watch **ret, const struct watch_opts *o)
{
	const struct tally_platform_opts po = watch_platform_opts(o);
	struct stat_watch *w = mem_alloc(sizeof(*w));
	int rc;

	*ret = w ? &w->base : NULL;
	if (!w)
		return -TALLY_ENOMEM;
	w->base = (struct watch){ &stat_watch_ops, EVERY_NS };
	w->all.table.take = watch_take_count;
	w->all.table.arg = w;
	rc = tally_platform_open(&w->p, &po);
	if (rc < 0)
		return rc;
	w->all.p = w->p;
	w->all.o = (struct tally_stat_opts){ .events = o->events,
					     .view = o->view,
					     .flags = TALLY_STAT_SYSTEM,
					     .stop = o->stop,
					     .to.format = TALLY_FORMAT_JSON };
	rc = plat_emit_open(w->p, &w->all.o.to);
	w->p->emit.ops = &watch_ops;
	w->p->emit.arg = w;
	if (rc >= 0)
		rc = stat_all_open(&w->all);
	if (rc >= 0)
		rc = stat_all_begin(&w->all);
	if (rc >= 0 && w->all.cpu)
		rc = stat_cpu_begin(w->all.cpu);
	if (rc >= 0 && w->all.cpu)
		stat_cpu_reasons(w->all.cpu);
	return rc;
}
