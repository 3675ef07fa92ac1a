/*
 * stat_event.c: selectors: what each counts, and its rows.
 *
 * A source is one selector.  What it needs is opened before the first reading: counters of
 * registers, statistics buffers, a request that is followed.  What can't be opened for want of a right,
 * a register or a free counter stays a source, with the reason in place of figures.
 *
 * MMU statistics have a table of their own, as trapstat -T has: a row for each strand,
 * context and page size, instructions and data beside each other.
 */
#include <stdio.h>
#include <string.h>

#include "ask/stat_int.h"

enum source_kind { OF_VFALLS, OF_MMU, OF_GPCI };
struct strand_counter {
	struct vf_counter *k;
	uint64_t base, total, delta;
}; /* base: the first reading */
struct source {
	struct sel s;
	uint8_t kind; /* enum source_kind */
	int rc;       /* why it can't be counted */
	struct err why;
	/* vfalls */
	struct vf_pick vf;
	struct strand_counter *one;
	bool begun; /* there was a reading */
	uint32_t n; /* strands, from vf.ask.vcpu on */
	/* mmustat */
	bool side[2];
	uint32_t first, strands;
	bool *has; /* of these strands: it is ours */
	/* gpci */
	struct gpci_pick pick;
	uint32_t req; /* of stat_run.req */
};

static bool is_reason(int rc)
{
	return rc == -TALLY_EPERM || rc == -TALLY_ENOTSUP || rc == -TALLY_EBUSY;
}

/* A reason is kept; anything else is an error. */
static int stat_keep_reason(struct stat_run *s, struct source *src, int rc, const struct err *e)
{
	if (!is_reason(rc))
		return hv_failed(s->p, rc, e);
	if (src->rc == 0)
		plat_note(s->p, "%s: %s", src->s.text, e->text);
	src->rc = rc;
	src->why = *e;
	if (s->first_rc == 0)
		s->first_rc = rc;
	return 0;
}

/* ---- vfalls --------------------------------------------------------------------------------------- */

static void note_unmodelled(struct stat_run *s, const struct source *src)
{
	const struct sun4v_kind *kind = hv_kind(s->p, s->transport);
	const struct vf_reg *r = &vf_regs[src->vf.ask.reg];

	if (kind && !niagara_models(kind, vf_events_of(r), (uint16_t)src->vf.ask.event))
		plat_note(s->p, "%s: this event is not modelled: its counter does not change", src->s.text);
}

/* All strands are those that are ours to use. */
static int note_others(struct stat_run *s, struct source *src, uint32_t others, uint32_t n)
{
	struct err e = { 0 };

	if (others && others == n)
		return stat_keep_reason(s, src, err_set(&e, TALLY_EBUSY, "all strands belong to other guests now"), &e);
	if (others)
		plat_note(s->p, "%s: %u of %u strands belong to other guests", src->s.text, others, n);
	return 0;
}

static int open_vfalls(struct stat_run *s, struct source *src)
{
	struct sun4v_client *c;
	uint32_t others = 0;
	struct err e = { 0 };
	int rc = hv_client_of(s->p, "vfalls", &c);

	if (rc >= 0)
		rc = vf_pick(s->p, s->transport, &src->s, &src->vf);
	if (rc < 0)
		return rc;
	if (s->transport->kind->mmustat)
		return stat_keep_reason(s, src, err_set(&e, TALLY_ENOTSUP, "niagara has no Victoria Falls registers"),
					&e);
	src->n = src->vf.all_strands ? s->transport->strands : 1;
	src->one = mem_alloc(src->n * sizeof(*src->one));
	if (!src->one)
		return plat_oom(s->p);
	for (uint32_t i = 0; i < src->n; i++) {
		struct vf_counter_ask a = src->vf.ask;

		a.vcpu += i;
		if (src->n > 1 && !sun4v_client_has(c, a.vcpu)) {
			others++;
			continue;
		}
		rc = vf_counter_open(&src->one[i].k, c, &a, &e);
		if (rc < 0)
			return stat_keep_reason(s, src, rc, &e);
	}
	note_unmodelled(s, src);
	return note_others(s, src, others, src->n);
}

static int read_vfalls(struct stat_run *s, struct source *src)
{
	for (uint32_t i = 0; src->rc == 0 && i < src->n; i++) {
		struct err e = { 0 };
		uint64_t now = 0;
		int rc = !src->one[i].k ? 0 : vf_counter_read(src->one[i].k, &now, &e);

		if (rc < 0)
			return stat_keep_reason(s, src, rc, &e);
		if (!src->begun)
			src->one[i].base = now;
		now -= src->one[i].base;
		src->one[i].delta = now - src->one[i].total;
		src->one[i].total = now;
	}
	src->begun = true;
	return 0;
}

static void close_source(struct source *src)
{
	for (uint32_t i = 0; src->one && i < src->n; i++)
		vf_counter_close(src->one[i].k);
	mem_free(src->one);
	mem_free(src->has);
}

/* ---- mmustat ---------------------------------------------------------------------------------------- */

#define SLOTS (2u * 2u * MMUSTAT_SIZES) /* of a strand: [data][context][size] */
#define OF_SLOT 6u                      /* hits, ticks since the start; in the last interval; at the first reading */

static uint64_t *slot_at(const struct stat_run *s, uint32_t strand, uint32_t d, uint32_t x, uint32_t size)
{
	return s->mmu + ((size_t)strand * SLOTS + (d * 2 + x) * MMUSTAT_SIZES + size) * OF_SLOT;
}

static int open_mmu(struct stat_run *s, struct source *src)
{
	static const char *const keys[] = { "cpu", NULL };
	struct sun4v_client *c;
	uint32_t others = 0;
	struct err e = { 0 };
	uint64_t cpu = 0;
	int rc = hv_client_of(s->p, "mmustat", &c);

	if (rc >= 0)
		rc = mm_sides(s->p, &src->s, src->side);
	if (rc >= 0)
		rc = sel_keys_are(&src->s, keys, &s->p->err);
	if (rc >= 0)
		rc = pick_strand_of(s->p, s->transport, &src->s, &cpu);
	if (rc < 0)
		return rc;
	src->first = (uint32_t)cpu;
	src->strands = rc ? 1 : s->transport->strands;
	if (!s->mmu)
		s->mmu = mem_alloc((size_t)s->transport->strands * SLOTS * OF_SLOT * sizeof(*s->mmu));
	if (!s->mmu)
		return plat_oom(s->p);
	src->has = mem_alloc(src->strands * sizeof(*src->has));
	if (!src->has)
		return plat_oom(s->p);
	for (uint32_t i = 0; i < src->strands; i++) {
		src->has[i] = src->strands == 1 || sun4v_client_has(c, src->first + i);
		others += !src->has[i];
		rc = src->has[i] ? mmustat_start(c, src->first + i, &e) : 0;
		if (rc < 0)
			return stat_keep_reason(s, src, rc, &e);
	}
	return note_others(s, src, others, src->strands);
}

static void count_slot(uint64_t *at, bool first, uint64_t hits, uint64_t ticks)
{
	if (first) {
		at[4] = hits;
		at[5] = ticks;
	}
	hits -= at[4];
	ticks -= at[5];
	at[2] = hits - at[0];
	at[3] = ticks - at[1];
	at[0] = hits;
	at[1] = ticks;
}

static int read_strand(struct stat_run *s, uint32_t strand)
{
	struct err e = { 0 };
	struct mmustat m;
	int rc = mmustat_read(s->p->client, strand, &m, &e);

	if (rc < 0)
		return rc == -TALLY_ESTATE ? 0 : hv_failed(s->p, rc, &e);
	for (uint32_t d = 0; d < 2; d++)
		for (uint32_t x = 0; x < 2; x++)
			for (uint32_t k = 0; k < MMUSTAT_SIZES; k++)
				count_slot(slot_at(s, strand, d, x, k), !s->mmu_begun, m.at[d][x][k].hits,
					   m.at[d][x][k].ticks);
	return 0;
}

/* ---- gpci -------------------------------------------------------------------------------------------- */

static int follow_of(struct stat_run *s, const struct gpci_request *r, uint32_t *ret)
{
	struct follow *f;

	for (*ret = 0; *ret < s->nreq; ++*ret)
		if (s->req[*ret].r == r)
			return 0;
	f = VEC_NEW(s->req, s->nreq, s->capreq);
	if (!f)
		return plat_oom(s->p);
	f->r = r;
	return 0;
}

static int open_gpci(struct stat_run *s, struct source *src)
{
	struct hv_transport *l;
	int rc = hv_power_of(s->p, &l);

	if (rc >= 0)
		rc = gpci_pick(s->p, l, &src->s, &src->pick);
	if (rc >= 0 && !strcmp(src->pick.r->name, "mmcrh"))
		rc = plat_fail(s->p, TALLY_EINVAL, "%s is write-only; gpci/hpmc/ counts", src->s.text);
	else if (rc >= 0 && src->pick.field < 0 && !gpci_counts(src->pick.r))
		rc = plat_fail(s->p, TALLY_EINVAL, "%s: a record of %s has no counter; 'tally get%s %s' shows it",
			       src->s.text, src->pick.r->name, s->p->asked, src->s.text);
	return rc < 0 ? rc : follow_of(s, src->pick.r, &src->req);
}

static bool is_picked(const struct source *src, const struct followed *v)
{
	return (src->pick.index < 0 || v->id == (uint64_t)src->pick.index) &&
	       (src->pick.secondary < 0 || v->secondary == (uint64_t)src->pick.secondary);
}

/* A record that was asked for by its id has to be there at the start. */
static int is_there(struct stat_run *s, struct source *src)
{
	const struct follow *f = &s->req[src->req];
	struct err e = { 0 };

	for (uint32_t i = 0; i < f->n; i++)
		if (is_picked(src, &f->v[i]))
			return 0;
	if (f->own && f->n)
		return stat_keep_reason(s, src,
					err_set(&e, TALLY_EPERM,
						"this partition is permitted to read only its own record, %llu",
						(unsigned long long)f->v[0].id),
					&e);
	if (!f->n || !gpci_key(f->r))
		return plat_fail(s->p, TALLY_EINVAL, "%s: no record", src->s.text);
	return plat_fail(s->p, TALLY_EINVAL, "%s: no such %s (valid: %llu to %llu)", src->s.text, gpci_key(f->r),
			 (unsigned long long)f->v[0].id, (unsigned long long)f->v[f->n - 1].id);
}

static int read_gpci(struct stat_run *s, struct source *src)
{
	const struct follow *f = &s->req[src->req];

	if (f->rc < 0)
		return stat_keep_reason(s, src, f->rc, &f->why);
	if (f->readings > 1 && src->rc < 0)
		return 0;
	return f->readings == 1 && src->pick.index != -1 ? is_there(s, src) : 0;
}

/* index=-1: whose record that is, its own reading says. */
static int own_index(struct stat_run *s, struct source *src)
{
	struct gpci_table t = { .n = 0 };
	struct err e = { 0 };
	int rc;

	if (src->pick.index != -1 || src->rc < 0)
		return 0;
	rc = gpci_read(&t, s->transport, src->pick.r, -1, &e);
	if (rc < 0)
		return stat_keep_reason(s, src, rc, &e);
	if (t.n)
		src->pick.index = (int64_t)t.v[0].id;
	gpci_table_free(&t);
	return 0;
}

/* ---- all ------------------------------------------------------------------------------------------------ */

int stat_events_add(struct stat_run *s, const char *text, size_t n)
{
	struct source *src = VEC_NEW(s->src, s->n, s->cap);
	int rc = src ? sel_parse(&src->s, text, n, s->p->asked, &s->p->err) : plat_oom(s->p);

	if (rc < 0)
		return rc;
	src->kind = src->s.provider == SEL_VFALLS ? OF_VFALLS : src->s.provider == SEL_MMUSTAT ? OF_MMU : OF_GPCI;
	return src->kind == OF_VFALLS ? open_vfalls(s, src) :
	       src->kind == OF_MMU    ? open_mmu(s, src) :
					open_gpci(s, src);
}

int stat_events_read(struct stat_run *s)
{
	int rc = 0;

	for (uint32_t i = 0; i < s->nreq; i++) {
		rc = follow_read(&s->req[i], s->p, s->transport);
		if (rc < 0 && (s->p->err.code || !is_reason(rc)))
			return s->p->err.code ? rc : hv_failed(s->p, rc, &s->req[i].why);
	}
	rc = 0;
	for (uint32_t i = 0; s->mmu && rc >= 0 && i < s->transport->strands; i++)
		rc = read_strand(s, i);
	s->mmu_begun = s->mmu;
	for (uint32_t i = 0; rc >= 0 && i < s->n; i++) {
		struct source *src = &s->src[i];

		if (src->kind == OF_VFALLS)
			rc = read_vfalls(s, src);
		else if (src->kind == OF_GPCI)
			rc = read_gpci(s, src);
		if (rc >= 0 && src->kind == OF_GPCI)
			rc = own_index(s, src);
	}
	return rc;
}

bool stat_events_none(const struct stat_run *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->src[i].rc == 0)
			return false;
	return true;
}

void stat_events_close(struct stat_run *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		close_source(&s->src[i]);
	for (uint32_t i = 0; i < s->nreq; i++)
		follow_free(&s->req[i]);
	for (uint32_t i = 0; s->mmu && i < s->transport->strands; i++)
		(void)mmustat_stop(s->p->client, i, NULL);
	mem_free(s->src);
	mem_free(s->req);
	mem_free(s->mmu);
}

/* ---- rows -------------------------------------------------------------------------------------------------- */

struct rows {
	struct stat_run *s;
	struct stat_table *t;
	const struct source *src;
};
static void stat_put_figure(const struct rows *r, const struct stat_figure *f)
{
	stat_table_row(r->t, stat_seconds(r->s), r->src->s.text, f);
}

static void put_reason(const struct rows *r)
{
	const struct source *src = r->src;
	const char *status = src->rc == -TALLY_EPERM ? "not permitted" :
			     src->rc == -TALLY_EBUSY ? "busy" :
						       "not supported";
	const char *word = arena_text(&r->t->t.words, "<%s>", status);

	stat_put_figure(r, &(struct stat_figure){ .delta = AN_NONE,
						  .value = AN_NONE,
						  .raw = AN_NONE,
						  .unit = "",
						  .id = "-",
						  .name = src->s.name,
						  .status = status,
						  .why = src->why.text,
						  .note = word });
}

static const char *vf_unit(const struct source *src)
{
	const char *name = src->vf.event ? src->vf.event->name : "";

	return !strncmp(name, "cycles_", 7) || strstr(name, "_latency") || strstr(name, "busy_cycle") ||
			       !strcmp(name, "clock_cycles") || !strcmp(name, "Idle_strands") ?
		       "cycles" :
		       "events";
}

static const char *vf_id(struct an_rows *t, const struct source *src, uint32_t strand)
{
	const struct vf_reg *r = &vf_regs[src->vf.ask.reg];

	if (r->cls == VF_SPARC_PCR)
		return arena_text(&t->words, "cpu=%u", strand);
	return arena_text(&t->words, r->cls == VF_MCU_PCR ? "node=%u" : "chip=%u", r->node);
}

static void vf_row(const struct rows *r, const struct strand_counter *c, const char *id)
{
	const struct source *src = r->src;
	const char *event = src->vf.event ? src->vf.event->name : arena_text(&r->t->t.words, "0x%x", src->vf.ask.event);

	stat_put_figure(r, &(struct stat_figure){ .delta = AN_U(c->delta),
						  .value = AN_U(c->total),
						  .raw = AN_NONE,
						  .unit = vf_unit(src),
						  .id = id,
						  .name = arena_text(&r->t->t.words, "%s.%s", src->s.name, event),
						  .status = "ok",
						  .family = arena_text(&r->t->t.words, "vfalls_%s", event),
						  .text = src->vf.event ? src->vf.event->text : "an event by its code",
						  .reg = src->s.name,
						  .grows = true });
}

static void vf_rows(const struct rows *r)
{
	const struct source *src = r->src;
	struct strand_counter sum = { .k = NULL };
	bool each = src->n == 1 || r->s->o.flags & TALLY_STAT_EACH;

	for (uint32_t i = 0; i < src->n; i++) {
		const struct strand_counter *c = &src->one[i];

		sum.delta += c->delta;
		sum.total += c->total;
		if (each && (src->n == 1 || c->total))
			vf_row(r, c, vf_id(&r->t->t, src, src->vf.ask.vcpu + i));
	}
	if (!each || (src->n > 1 && !sum.total))
		vf_row(r, &sum, "all");
}

static void gpci_cell(const struct rows *r, const struct followed *v, uint32_t i)
{
	const struct source *src = r->src;
	struct an_rows *t = &r->t->t;
	const struct gpci_field *f = &src->pick.r->field[i];
	bool counts = f->flags & GPCI_F_COUNTER, none = gpci_is_none(f, v->now[i]), back = v->back >> i & 1;
	const char *status = v->state == FOLLOW_CAME ? "came" :
			     v->state == FOLLOW_WENT ? "went" :
			     back                    ? "went back" :
			     none                    ? "none" :
						       "ok";
	bool has_delta = counts && v->state == FOLLOW_HERE && !back && !none;
	const char *id = "-";

	if (gpci_key(src->pick.r))
		id = src->pick.r->index == GPCI_BY_VP ?
			     arena_text(&t->words, "partition=%llu.%llu", (unsigned long long)v->id,
					(unsigned long long)v->secondary) :
			     arena_text(&t->words, "%s=%llu", gpci_key(src->pick.r), (unsigned long long)v->id);
	stat_put_figure(r, &(struct stat_figure){
				   .delta = has_delta ? AN_U(v->delta[i]) : AN_NONE,
				   .value = none ? AN_NONE : AN_U(counts ? v->total[i] : v->now[i]),
				   .raw = none ? AN_NONE : AN_U(v->now[i]),
				   .unit = f->unit,
				   .id = id,
				   .status = status,
				   .name = arena_text(&t->words, "%s.%s", src->pick.r->name, f->name),
				   .family = arena_text(&t->words, "gpci_%s_%s", src->pick.r->name, f->name),
				   .text = f->text,
				   .grows = counts,
				   .note = strcmp(status, "ok") ? arena_text(&t->words, "<%s>", status) : NULL });
}

static void gpci_rows(const struct rows *r)
{
	const struct source *src = r->src;
	const struct follow *f = &r->s->req[src->req];

	for (uint32_t n = 0; n < f->n; n++)
		for (uint32_t i = 0; is_picked(src, &f->v[n]) && i < f->r->nfields; i++) {
			bool asked = src->pick.field == (int32_t)i;
			bool counter = src->pick.field < 0 && f->r->field[i].flags & GPCI_F_COUNTER &&
				       f->r->field[i].since <= r->s->transport->level;

			if (asked || counter)
				gpci_cell(r, &f->v[n], i);
		}
}

/* ---- the table of MMU statistics ------------------------------------------------------------------------------ */

static const struct an_column mmu_col[MMU_COLUMNS] = {
	{ "time", "TIME", AN_NUMBER },
	{ "cpu", "CPU", AN_COUNT },
	{ "context", "CTX", AN_TEXT },
	{ "size", "PAGES", AN_TEXT },
	{ "immu_hits", "I-HITS", AN_COUNT },
	{ "immu_ticks", "I-TICKS", AN_COUNT },
	{ "immu_time", "I-TIME", AN_SHARE },
	{ "dmmu_hits", "D-HITS", AN_COUNT },
	{ "dmmu_ticks", "D-TICKS", AN_COUNT },
	{ "dmmu_time", "D-TIME", AN_SHARE },
	{ "immu_hits_total", "I-ALL", AN_COUNT },
	{ "dmmu_hits_total", "D-ALL", AN_COUNT },
};

/* Of the time of so many strands. */
static double stat_time_share(const struct stat_run *s, uint64_t ticks, uint32_t strands)
{
	double hz = s->transport->tick_hz ? (double)s->transport->tick_hz : NIAGARA_HZ;
	double all = (double)(s->now - s->before) / 1e9 * hz * strands;

	return all > 0 ? (double)ticks / all : 0;
}

static void side_cells(const struct stat_run *s, const uint64_t *at, uint32_t strands, struct an_cell *c,
		       struct an_cell *total)
{
	c[0] = AN_U(at[2]);
	c[1] = AN_U(at[3]);
	c[2] = AN_D(stat_time_share(s, at[3], strands));
	*total = AN_U(at[0]);
}

static bool has_side(const struct stat_run *s, uint32_t strand, uint32_t d)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct source *src = &s->src[i];

		if (src->kind == OF_MMU && src->rc == 0 && src->side[d] && strand >= src->first &&
		    strand - src->first < src->strands && src->has[strand - src->first])
			return true;
	}
	return false;
}

static void mmu_row(struct stat_run *s, struct an_rows *t, uint32_t strand, uint32_t x, uint32_t size,
		    uint64_t sum[2][OF_SLOT])
{
	struct an_cell c[MMU_COLUMNS] = { AN_D(stat_seconds(s)), AN_U(strand), AN_S(x ? "not 0" : "0"),
					  AN_S(mm_size_name[size]) };
	bool active = false, any = false;

	for (uint32_t d = 0; d < 2; d++) {
		const uint64_t *at = slot_at(s, strand, d, x, size);

		for (uint32_t k = 0; k < 3; k++)
			c[4 + 3 * d + k] = AN_NONE;
		c[10 + d] = AN_NONE;
		if (!has_side(s, strand, d))
			continue;
		any = true;
		side_cells(s, at, 1, &c[4 + 3 * d], &c[10 + d]);
		active |= at[2] != 0;
		for (uint32_t k = 0; k < OF_SLOT; k++)
			sum[d][k] += at[k];
	}
	if (any) /* people are spared what did nothing */
		an_rows_add_for(t, active ? AN_FOR_ALL : AN_FOR_PROGRAMS, c);
}

static uint32_t strands_of_side(const struct stat_run *s, uint32_t d)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->transport->strands; i++)
		n += has_side(s, i, d);
	return n;
}

/* People get the sum. Shares are of the time of all strands that are counted. */
static void mmu_sum(struct stat_run *s, struct an_rows *t, uint64_t sum[2][OF_SLOT])
{
	struct an_cell c[MMU_COLUMNS] = {
		AN_D(stat_seconds(s)), { .unit = AN_DIGITS, .s = "all" }, AN_S(""), AN_S("")
	};

	for (uint32_t d = 0; d < 2; d++)
		side_cells(s, sum[d], strands_of_side(s, d), &c[4 + 3 * d], &c[10 + d]);
	an_rows_add_for(t, AN_FOR_PEOPLE, c);
}

static bool has_mmu(const struct stat_run *s)
{
	bool any = false;

	for (uint32_t i = 0; i < s->n; i++)
		any |= s->src[i].kind == OF_MMU && s->src[i].rc == 0;
	return any;
}

void stat_mmu_rows(struct stat_run *s)
{
	struct an_rows t = { .type = "mmustat",
			     .col = mmu_col,
			     .ncols = MMU_COLUMNS,
			     .text_skips = 1u << 10 | 1u << 11,
			     .seconds = 1,
			     .heat = 1u << 6 | 1u << 9,
			     .about = "hits in translation tables of a strand, by context and size of the pages",
			     .keys = 1u << 1 | 1u << 2 | 1u << 3,
			     .grows = 1u << 10 | 1u << 11,
			     .keep = s->keep_mmu };
	uint64_t sum[2][OF_SLOT] = { 0 };

	if (!has_mmu(s))
		return;
	for (uint32_t i = 0; i < s->transport->strands; i++)
		for (uint32_t x = 0; x < 2; x++)
			for (uint32_t k = 0; k < MMUSTAT_SIZES; k++)
				mmu_row(s, &t, i, x, k, sum);
	mmu_sum(s, &t, sum);
	stat_put(s, &t);
}

void stat_events_rows(struct stat_run *s, struct stat_table *t)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct source *src = &s->src[i];
		const struct rows r = { s, t, src };

		if (src->rc < 0)
			put_reason(&r);
		else if (src->kind == OF_VFALLS)
			vf_rows(&r);
		else if (src->kind == OF_GPCI)
			gpci_rows(&r);
	}
}
