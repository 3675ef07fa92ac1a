/*
 * stat_view.c: what an administrator asks of a POWER machine, from the records.
 *
 * A view is a row: the requests it needs and those that only add to it, and a
 * function that makes a table of them.  All figures are of the last interval:
 * differences of counters over T, the timebase ticks that passed; how fast they
 * come the platform says.
 * Links have a time of their own, that of their collection.
 *
 * A figure whose counter is not to be had, went back or has only just come is
 * none, never a guess.  Sums are of all rows that are shown.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/stat_int.h"

#define NEEDS 6u
#define LINKS 7u
enum {
	NOT_INSTALLED = 1,
	GUARDED = 2,
	UNLICENSED = 3,
	SHARED = 4,
	BORROWED = 5,
	DEDICATED = 6
}; /* states of processors */

struct view {
	const char *name, *text;
	const char *need[NEEDS]; /* requests; NULL behind the last */
	uint32_t must;           /* bit: without it there is no view */
	void (*rows)(struct stat_run *s);
};

/* ---- figures ---------------------------------------------------------------------------------------- */

static const struct follow *part_of(const struct stat_run *s, const char *request)
{
	for (uint32_t i = 0; i < NEEDS && s->view->need[i]; i++)
		if (!strcmp(s->view->need[i], request))
			return s->part[i].rc < 0 ? NULL : &s->part[i];
	return NULL;
}

/* What a counter grew by; NAN: that is not known. */
static double view_field_grown(const struct follow *f, const struct followed *v, const char *name)
{
	int32_t i = f && v ? follow_field(f, name) : -1;

	if (i < 0 || v->state != FOLLOW_HERE || v->back >> i & 1 || gpci_is_none(&f->r->field[i], v->now[i]))
		return NAN;
	return (double)v->delta[i];
}

static uint64_t view_value_now(const struct follow *f, const struct followed *v, const char *name)
{
	int32_t i = f && v ? follow_field(f, name) : -1;

	return i < 0 || gpci_is_none(&f->r->field[i], v->now[i]) ? UINT64_MAX : v->now[i];
}

static double view_ratio(double a, double b)
{
	return b > 0 ? a / b : NAN;
}

static struct an_cell view_cell_double(double d)
{
	return isnan(d) ? AN_NONE : AN_D(d);
}

static struct an_cell view_cell_count(uint64_t u)
{
	return u == UINT64_MAX ? AN_NONE : AN_U(u);
}

/* A number that counts nothing: people read it without commas. */
static struct an_cell id_cell(uint64_t id)
{
	struct an_cell c = view_cell_count(id);

	c.unit = AN_ID;
	return c;
}

static struct an_rows table_of(const struct stat_run *s, const char *type, const struct an_column *col, uint32_t n)
{
	struct an_rows t = {
		.type = type, .col = col, .ncols = n, .text_skips = 1, .seconds = 1, .about = s->view->text
	};

	t.title = arena_text(&t.words, "%s, %.3f s after the start, interval %.3f s", s->view->name, stat_seconds(s),
			     (double)(s->now - s->before) / 1e9);
	return t;
}

/* ---- processors ---------------------------------------------------------------------------------------- */

struct core {
	uint64_t id, node, chip, state, owner;
	double busy;
};

static int by_busy(const void *a, const void *b)
{
	const struct core *x = a, *y = b;
	double dx = isnan(x->busy) ? -1 : x->busy, dy = isnan(y->busy) ? -1 : y->busy;

	return dx != dy ? (dx < dy) - (dx > dy) : (x->id > y->id) - (x->id < y->id);
}

static struct core core_of(const struct stat_run *s, const struct follow *f, const struct followed *v)
{
	uint64_t state = view_value_now(f, v, "state");

	return (struct core){ v->id,
			      view_value_now(f, v, "primary_domain"),
			      view_value_now(f, v, "hw_chip_id"),
			      state,
			      view_value_now(f, v, "owner"),
			      state < SHARED ? NAN :
					       view_ratio(view_field_grown(f, v, "processor_time"), stat_ticks(s)) };
}

static void view_put_processors(struct stat_run *s)
{
	static const struct an_column col[] = {
		{ "time", "TIME", AN_NUMBER }, { "processor", "PROCESSOR", AN_COUNT }, { "node", "NODE", AN_COUNT },
		{ "chip", "CHIP", AN_COUNT },  { "state", "STATE", AN_TEXT },          { "owner", "OWNER", AN_COUNT },
		{ "busy", "%BUSY", AN_SHARE },
	};
	struct an_rows t = table_of(s, "processor", col, COUNT(col));
	const struct follow *f = part_of(s, "dispatch_purr");
	struct core *core = mem_alloc(f->n * sizeof(*core));
	uint32_t n = 0;

	t.heat = t.figures = 1u << 6;
	t.keys = 7u << 1;
	t.words.failed |= !core;
	for (uint32_t i = 0; core && i < f->n; i++)
		if (f->v[i].state != FOLLOW_WENT)
			core[n++] = core_of(s, f, &f->v[i]);
	if (n)
		qsort(core, n, sizeof(*core), by_busy);
	for (uint32_t i = 0; i < n; i++)
		an_rows_add(&t, (struct an_cell[]){ AN_D(stat_seconds(s)), id_cell(core[i].id),
						    view_cell_count(core[i].node), view_cell_count(core[i].chip),
						    AN_S(gpci_state_name(core[i].state)), id_cell(core[i].owner),
						    view_cell_double(core[i].busy) });
	mem_free(core);
	stat_put(s, &t);
}

/* ---- partitions ------------------------------------------------------------------------------------------ */

struct part {
	uint64_t id, vps;
	const char *type;
	double ent, capped, uncapped, donated, idle, cycles, instructions, wait;
};

static double view_physc(const struct part *q)
{
	return q->capped + q->uncapped;
}

static int by_physc(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	double dx = isnan(view_physc(x)) ? -1 : view_physc(x), dy = isnan(view_physc(y)) ? -1 : view_physc(y);

	return dx != dy ? (dx < dy) - (dx > dy) : (x->id > y->id) - (x->id < y->id);
}

/* Processors that are its own make it dedicated. */
static const char *type_of(const struct stat_run *s, uint64_t id)
{
	const struct follow *f = part_of(s, "dispatch_purr");

	for (uint32_t i = 0; f && i < f->n; i++)
		if (view_value_now(f, &f->v[i], "state") >= BORROWED && view_value_now(f, &f->v[i], "owner") == id)
			return "dedicated";
	return f ? "shared" : NULL;
}

static uint64_t vps_of(const struct stat_run *s, uint64_t id)
{
	const struct follow *f = part_of(s, "affinity_by_vp");
	uint64_t n = 0;

	for (uint32_t i = 0; f && i < f->n; i++)
		n += f->v[i].id == id && f->v[i].state != FOLLOW_WENT;
	return f && !f->own ? n : UINT64_MAX; /* the own record is one virtual processor's alone */
}

static struct part part_at(const struct stat_run *s, const struct follow *f, const struct followed *v)
{
	const struct follow *runs = part_of(s, "run_instructions"), *waits = part_of(s, "queuing_times");
	const struct followed *r = runs ? follow_find(runs, v->id) : NULL,
			      *w = waits ? follow_find(waits, v->id) : NULL;
	double ticks = stat_ticks(s);

	return (struct part){
		.id = v->id,
		.vps = vps_of(s, v->id),
		.type = type_of(s, v->id),
		.ent = view_ratio(view_field_grown(f, v, "entitled"), ticks),
		.capped = view_ratio(view_field_grown(f, v, "capped"), ticks),
		.uncapped = view_ratio(view_field_grown(f, v, "uncapped"), ticks),
		.donated = view_ratio(view_field_grown(f, v, "donated"), ticks),
		.idle = view_ratio(view_field_grown(f, v, "idle"), ticks),
		.cycles = view_field_grown(runs, r, "cycles"),
		.instructions = view_field_grown(runs, r, "instructions"),
		.wait = view_ratio(view_field_grown(waits, w, "wait_processor_time"), ticks),
	};
}

static struct an_cell type_cell(const char *type)
{
	struct an_cell c = type ? AN_S(type) : AN_NONE;

	if (type && !strcmp(type, "dedicated"))
		c.brief = "ded";
	return c;
}

static void part_row(const struct stat_run *s, struct an_rows *t, const struct part *q)
{
	an_rows_add(t, (struct an_cell[]){
			       AN_D(stat_seconds(s)), id_cell(q->id), type_cell(q->type), view_cell_count(q->vps),
			       view_cell_double(q->ent), view_cell_double(view_physc(q)),
			       view_cell_double(view_ratio(view_physc(q), q->ent)), view_cell_double(q->capped),
			       view_cell_double(q->uncapped), view_cell_double(q->donated),
			       view_cell_double(view_ratio(q->idle, view_physc(q))),
			       view_cell_double(view_ratio(q->cycles, q->instructions)), view_cell_double(q->wait) });
}

static void view_add_known(double *sum, double d)
{
	*sum += isnan(d) ? 0 : d;
}

/* Text has all of them together in a last row: sums, and ratios of sums. What is not known of one is known of none. */
static void part_sum(const struct stat_run *s, struct an_rows *t, const struct part *q, uint32_t n)
{
	struct part all = { .type = "", .vps = 0 };

	for (uint32_t i = 0; i < n; i++) {
		all.vps = q[i].vps == UINT64_MAX ? UINT64_MAX : all.vps + q[i].vps;
		all.ent += q[i].ent;
		all.capped += q[i].capped;
		all.uncapped += q[i].uncapped;
		all.donated += q[i].donated;
		all.idle += q[i].idle;
		all.cycles += q[i].cycles;
		all.instructions += q[i].instructions;
	}
	if (n > 1)
		an_rows_add_for(t, AN_FOR_PEOPLE,
				(struct an_cell[]){ AN_D(stat_seconds(s)),
						    { .unit = AN_DIGITS, .s = "all" },
						    AN_S(""),
						    view_cell_count(all.vps),
						    view_cell_double(all.ent),
						    view_cell_double(view_physc(&all)),
						    view_cell_double(view_ratio(view_physc(&all), all.ent)),
						    view_cell_double(all.capped),
						    view_cell_double(all.uncapped),
						    view_cell_double(all.donated),
						    view_cell_double(view_ratio(all.idle, view_physc(&all))),
						    view_cell_double(view_ratio(all.cycles, all.instructions)),
						    AN_NONE });
}

static void view_put_partitions(struct stat_run *s)
{
	static const struct an_column col[] = {
		{ "time", "TIME", AN_NUMBER },     { "partition", "PART", AN_COUNT }, { "kind", "TYPE", AN_TEXT },
		{ "vps", "VPS", AN_COUNT },        { "ent", "ENT", AN_RATIO },        { "physc", "PHYSC", AN_RATIO },
		{ "entc", "%ENTC", AN_SHARE },     { "capped", "CAP", AN_RATIO },     { "uncapped", "UNCAP", AN_RATIO },
		{ "donated", "DONATE", AN_RATIO }, { "idle", "%IDLE", AN_SHARE },     { "cpi", "CPI", AN_RATIO },
		{ "wait", "WAIT", AN_RATIO },
	};
	struct an_rows t = table_of(s, "partition", col, COUNT(col));
	const struct follow *f = part_of(s, "entitled");
	struct part *q = mem_alloc(f->n * sizeof(*q));
	uint32_t n = 0;

	t.heat = 1u << 6;
	t.keys = 1u << 1;
	t.figures = 0x3ffu << 3;
	t.text_skips |= 1u << 12;
	t.words.failed |= !q;
	for (uint32_t i = 0; q && i < f->n; i++)
		if (f->v[i].state != FOLLOW_WENT)
			q[n++] = part_at(s, f, &f->v[i]);
	if (n)
		qsort(q, n, sizeof(*q), by_physc);
	for (uint32_t i = 0; i < n; i++)
		part_row(s, &t, &q[i]);
	if (q)
		part_sum(s, &t, q, n);
	mem_free(q);
	stat_put(s, &t);
}

/* ---- the machine --------------------------------------------------------------------------------------------- */

struct sums {
	double busy, pool_busy, ent, donated, uncapped;
	uint32_t cores[DEDICATED + 1], parts;
};

static void sum_cores(const struct stat_run *s, struct sums *m)
{
	const struct follow *f = part_of(s, "dispatch_purr");

	for (uint32_t i = 0; i < f->n; i++) {
		struct core c = core_of(s, f, &f->v[i]);

		if (c.state <= DEDICATED && f->v[i].state != FOLLOW_WENT)
			m->cores[c.state]++;
		view_add_known(&m->busy, c.busy);
		view_add_known(&m->pool_busy, c.state == SHARED ? c.busy : 0);
	}
}

static void sum_parts(const struct stat_run *s, struct sums *m)
{
	const struct follow *f = part_of(s, "entitled");

	for (uint32_t i = 0; i < f->n; i++) {
		struct part q = part_at(s, f, &f->v[i]);

		m->parts += f->v[i].state != FOLLOW_WENT;
		view_add_known(&m->ent, q.ent);
		view_add_known(&m->donated, q.donated);
		view_add_known(&m->uncapped, q.uncapped);
	}
}

static void view_put_cec(struct stat_run *s)
{
	static const struct an_column col[] = {
		{ "time", "TIME", AN_NUMBER },     { "cores", "CORES", AN_COUNT },
		{ "shared", "POOL", AN_COUNT },    { "dedicated", "DED", AN_COUNT },
		{ "off", "OFF", AN_COUNT },        { "partitions", "PART", AN_COUNT },
		{ "ent", "ENT", AN_RATIO },        { "busy", "BUSY", AN_RATIO },
		{ "spare", "SPARE", AN_RATIO },    { "utilisation", "%BUSY", AN_SHARE },
		{ "pool", "%POOL", AN_SHARE },     { "donated", "DONATE", AN_RATIO },
		{ "uncapped", "UNCAP", AN_RATIO },
	};
	struct an_rows t = { .type = "cec",
			     .col = col,
			     .ncols = COUNT(col),
			     .text_skips = 1u << 5 | 1u << 12,
			     .seconds = 1,
			     .heat = 1u << 9 | 1u << 10,
			     .goes_on = true,
			     .about = s->view->text,
			     .figures = 0xfffu << 1,
			     .keep = s->keep_view };
	struct sums m = { 0 };
	uint32_t dedicated, cores;

	sum_cores(s, &m);
	sum_parts(s, &m);
	dedicated = m.cores[DEDICATED] + m.cores[BORROWED];
	cores = m.cores[SHARED] + dedicated;
	an_rows_add(&t, (struct an_cell[]){ AN_D(stat_seconds(s)), AN_U(cores), AN_U(m.cores[SHARED]), AN_U(dedicated),
					    AN_U(m.cores[NOT_INSTALLED] + m.cores[GUARDED] + m.cores[UNLICENSED]),
					    AN_U(m.parts), AN_D(m.ent), AN_D(m.busy), AN_D(cores - m.busy),
					    view_cell_double(view_ratio(m.busy, cores)),
					    view_cell_double(view_ratio(m.pool_busy, m.cores[SHARED])), AN_D(m.donated),
					    AN_D(m.uncapped) });
	stat_put(s, &t);
}

/* ---- links ------------------------------------------------------------------------------------------------------- */

static const char link_name[LINKS + 1] = "abcwxyz";
struct chip {
	uint64_t id, node;
	double link[LINKS];
	int hottest;
};

static double heat_of(const struct chip *c)
{
	return c->hottest < 0 ? -1 : c->link[c->hottest];
}

static int by_heat(const void *a, const void *b)
{
	const struct chip *x = a, *y = b;

	return heat_of(x) != heat_of(y) ? (heat_of(x) < heat_of(y)) - (heat_of(x) > heat_of(y)) :
					  (x->id > y->id) - (x->id < y->id);
}

/* 1 - d(idle) / d(time); later layouts have one time for all links of a record. */
static double view_link_utilisation(const struct follow *f, const struct followed *v, char link)
{
	char idle[] = "idle_?", time[] = "time_?";
	double passed;

	idle[5] = time[5] = link;
	passed = view_field_grown(f, v, f && follow_field(f, "total") >= 0 ? "total" : time);
	return passed > 0 ? 1 - view_field_grown(f, v, idle) / passed : NAN;
}

static struct chip chip_of(const struct stat_run *s, const struct followed *v)
{
	const struct follow *abc = part_of(s, "links_abc"), *wxyz = part_of(s, "links_wxyz"),
			    *bus = part_of(s, "bus_topology");
	struct chip c = { .id = v->id, .hottest = -1 };

	c.node = bus ? view_value_now(bus, follow_find(bus, v->id), "hw_node_id") : UINT64_MAX;
	for (uint32_t i = 0; i < LINKS; i++) {
		c.link[i] = i < 3 ? view_link_utilisation(abc, v, link_name[i]) :
				    view_link_utilisation(wxyz, wxyz ? follow_find(wxyz, v->id) : NULL, link_name[i]);
		if (!isnan(c.link[i]) && (c.hottest < 0 || c.link[i] > c.link[c.hottest]))
			c.hottest = (int)i;
	}
	return c;
}

/* A chip is told by its number in the node; which one of the machine that is. UINT64_MAX: no record says it. */
static uint64_t view_chip_of_node(const struct follow *bus, uint64_t node, uint64_t number)
{
	for (uint32_t i = 0; i < bus->n; i++) {
		const struct followed *v = &bus->v[i];

		if (v->state != FOLLOW_WENT && view_value_now(bus, v, "hw_node_id") == node &&
		    view_value_now(bus, v, "fabric_chip_id") == number)
			return v->id;
	}
	return UINT64_MAX;
}

/* What is at the other end; the records say it of all but C. */
static struct an_cell view_link_peer(const struct stat_run *s, struct an_rows *t, const struct chip *c)
{
	const struct follow *bus = part_of(s, "bus_topology");
	bool inside = c->hottest >= 3;
	char name[] = "chip_?";
	uint64_t there;

	if (c->hottest < 0)
		return AN_NONE;
	memcpy(name, inside ? "chip_" : "node_", 5);
	name[5] = link_name[c->hottest];
	there = bus ? view_value_now(bus, follow_find(bus, c->id), name) : UINT64_MAX;
	if (inside && there != UINT64_MAX)
		there = view_chip_of_node(bus, c->node, there);
	if (there == UINT64_MAX)
		return AN_S(arena_text(&t->words, "%c", link_name[c->hottest] - 32));
	return AN_S(arena_text(&t->words, inside ? "%c chip %llu" : "%c node %llu", link_name[c->hottest] - 32,
			       (unsigned long long)there));
}

static void view_put_links(struct stat_run *s)
{
	static const struct an_column col[] = {
		{ "time", "TIME", AN_NUMBER },
		{ "chip", "CHIP", AN_COUNT },
		{ "node", "NODE", AN_COUNT },
		{ "a", "A", AN_SHARE },
		{ "b", "B", AN_SHARE },
		{ "c", "C", AN_SHARE },
		{ "w", "W", AN_SHARE },
		{ "x", "X", AN_SHARE },
		{ "y", "Y", AN_SHARE },
		{ "z", "Z", AN_SHARE },
		{ "hottest", "HOTTEST", AN_TEXT },
	};
	struct an_rows t = table_of(s, "links", col, COUNT(col));
	const struct follow *f = part_of(s, "links_abc");
	struct chip *chip = mem_alloc(f->n * sizeof(*chip));
	uint32_t n = 0;

	t.heat = t.figures = 0x7fu << 3;
	t.keys = 3u << 1;
	t.words.failed |= !chip;
	for (uint32_t i = 0; chip && i < f->n; i++)
		if (f->v[i].state != FOLLOW_WENT)
			chip[n++] = chip_of(s, &f->v[i]);
	if (n)
		qsort(chip, n, sizeof(*chip), by_heat);
	for (uint32_t i = 0; i < n; i++) {
		struct an_cell c[COUNT(col)] = { AN_D(stat_seconds(s)), AN_U(chip[i].id),
						 view_cell_count(chip[i].node) };

		for (uint32_t k = 0; k < LINKS; k++)
			c[3 + k] = view_cell_double(chip[i].link[k]);
		c[3 + LINKS] = view_link_peer(s, &t, &chip[i]);
		an_rows_add(&t, c);
	}
	mem_free(chip);
	stat_put(s, &t);
}

/* ---- which there are ------------------------------------------------------------------------- */

static const struct view views[] = {
	{ "cec",
	  "the machine: cores by state, entitlement, BUSY = sum d(processor_time)/T, SPARE = cores - BUSY",
	  { "dispatch_purr", "entitled" },
	  3,
	  view_put_cec },
	{ "partitions",
	  "ENT = d(entitled)/T, CAP = d(capped)/T, UNCAP = d(uncapped)/T, PHYSC = CAP+UNCAP, %ENTC = PHYSC/ENT, "
	  "DONATE = d(donated)/T, %IDLE = d(idle)/d(capped+uncapped), CPI = d(cycles)/d(instructions)",
	  { "entitled", "run_instructions", "dispatch_purr", "affinity_by_vp", "queuing_times" },
	  1,
	  view_put_partitions },
	{ "processors",
	  "%BUSY = d(processor_time)/T of each core, with state and owner",
	  { "dispatch_purr" },
	  1,
	  view_put_processors },
	{ "links",
	  "utilisation of each chip's links: 1 - d(idle)/d(time of the collection); A to C between nodes, W to Z inside",
	  { "links_abc", "links_wxyz", "bus_topology" },
	  3,
	  view_put_links },
};

const char *tally_stat_view(uint32_t i, const char **text)
{
	if (i >= COUNT(views))
		return NULL;
	if (text)
		*text = views[i].text;
	return views[i].name;
}

const char *stat_view_must(uint32_t i, uint32_t k)
{
	return i < COUNT(views) && k < NEEDS && views[i].must >> k & 1 ? views[i].need[k] : NULL;
}

/* Whether an earlier request says what comes and goes; of virtual processors that is their partition's. */
static bool is_said(const struct stat_run *s, uint32_t which)
{
	bool said = s->part[which].r->index == GPCI_BY_VP;

	for (uint32_t i = 0; i < which; i++)
		said |= s->part[i].r->index == s->part[which].r->index;
	return said;
}

int stat_view_open(struct stat_run *s, const char *name)
{
	struct hv_transport *l;
	int rc = 0;

	for (size_t i = 0; i < COUNT(views); i++)
		if (!strcmp(views[i].name, name))
			s->view = &views[i];
	if (!s->view)
		return plat_fail(s->p, TALLY_EINVAL, "unknown view '%s'%s", name,
				 err_unknown(name, TEXT_NAMES_OF(views, name),
					     " (expected cec, partitions, processors or links)")
					 .text);
	rc = hv_power_of(s->p, &l);
	if (rc < 0)
		return rc;
	if (l->tick_hz == HV_TICK_UNKNOWN)
		plat_note(s->p, "the frequency of this machine's timebase is unknown: shares of time are not shown");
	s->part = mem_alloc(NEEDS * sizeof(*s->part));
	if (!s->part)
		return plat_oom(s->p);
	for (uint32_t i = 0; i < NEEDS && s->view->need[i]; i++) {
		s->part[i].r = gpci_layout(s->p, l, gpci_request_find(s->view->need[i]));
		s->part[i].quiet = is_said(s, i);
	}
	return 0;
}

/* Why there is one row, and why some of its columns are empty. */
static void view_note_own(struct stat_run *s)
{
	struct buf names = { 0 };

	for (uint32_t i = 0; i < NEEDS && s->view->need[i]; i++)
		if (s->part[i].own)
			buf_printf(&names, "%s%s", names.n ? ", " : "", s->part[i].r->name);
	if (names.n)
		plat_note(s->p, "this partition is permitted to read only its own record of %s", names.p);
	s->p->out.failed |= names.failed;
	buf_free(&names);
}

int stat_view_read(struct stat_run *s)
{
	for (uint32_t i = 0; i < NEEDS && s->view->need[i]; i++) {
		struct follow *f = &s->part[i];
		bool first = !f->readings && f->rc == 0;
		int rc = follow_read(f, s->p, s->transport);

		if (s->p->err.code)
			return rc;
		if (rc < 0 &&
		    (s->view->must >> i & 1 || !(rc == -TALLY_EPERM || rc == -TALLY_ENOTSUP || rc == -TALLY_EINVAL)))
			return plat_fail(s->p, (enum tally_err) - rc, "the view needs %s", f->why.text);
		if (rc < 0 && first)
			plat_note(s->p, "without %s", f->why.text);
	}
	if (s->part[0].readings == 1)
		view_note_own(s);
	return 0;
}

void stat_view_rows(struct stat_run *s)
{
	s->view->rows(s);
}

void stat_view_close(struct stat_run *s)
{
	for (uint32_t i = 0; s->part && i < NEEDS && s->view->need[i]; i++)
		follow_free(&s->part[i]);
	mem_free(s->part);
}
