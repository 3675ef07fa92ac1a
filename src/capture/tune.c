/*
 * tune.c: trace, set, trace again, compare (hisi_ptt.rst recommends to use tuning and tracing
 * together; this is that loop).
 *
 * A measurement is a trace of everything below the device's root ports while the command runs.
 * For throughput it gives the payload per second.  For latency it gives how long requests waited for their last
 * completion.  That takes two kinds of trace (views), since no direction has both: completions of devices' requests go
 * outbound, those of the host's requests inbound.  A tunable is judged in the view whose completions pass its buffer.
 * A view without completions is not used.
 *
 * The search is coordinate descent: not all 243 settings, but one tunable after the other from the best setting so far,
 * repeated while it finds a better one.  For throughput watermarks are only raised, and three equal weights are one
 * setting.  Payload per second as a function of the weights has no local optimum on this path: it is a quotient of two
 * sums over the types, and each weight occurs once in each.
 *
 * A setting that looks better must pass a randomization test (tune_chance.c): it is measured alternately with its
 * reference in random order, until the result is significant or clearly is not.  The error bound holds for the
 * whole run.  A gain below MARGIN changes nothing.
 *
 * The old settings are restored after a failed trace, a command that dies, an interrupt, or a table that cannot be
 * written.  If this process is killed, a guard process restores them (kernel/guard.c).
 */
#include <stdio.h>
#include <string.h>

#include "capture/tune_int.h"
#include "kernel/kernel.h"

#define MARGIN 5u     /* per mille */
#define HOPELESS 0.25 /* what chance does so often isn't pursued */
#define ONE_IN 1000u  /* runs, one of which may believe what is chance */
#define TRIES 3       /* to put a tunable back */
#define DURATION_NS UINT64_C(20000000)
#define OUTSTANDING_MOST 16384u
#define UNKNOWN UINT32_MAX /* a tunable, after a set that failed */
#define TIMES_ENOUGH 4096u /* records by which times are understood, sure or not */

bool tune_same(const struct setting *a, const struct setting *b)
{
	return !memcmp(a->v, b->v, sizeof(a->v));
}

/* ---- the device -------------------------------------------------------------------------------------- */

static int tune_keep_failure(struct tune *t, enum ptt_tune i, int rc, const struct err *e)
{
	return plat_fail(t->p, (enum tally_err) - rc, "%s/%s: %s", t->name, ptt_tunables[i].name,
			 e->text[0] ? e->text : tally_strerror(rc));
}

static int tune_set_value(struct tune *t, enum ptt_tune i, uint32_t value, struct err *e)
{
	int rc = t->p->ptt.op->tune_set(t->p->ptt.arg, t->device, i, value, e);

	t->now.v[i] = rc < 0 ? UNKNOWN : value;
	return rc;
}

static int tune_apply_setting(struct tune *t, const struct setting *s)
{
	for (unsigned i = 0; i < PTT_TUNES; i++) {
		struct err e = { 0 };
		int rc = s->v[i] == t->now.v[i] ? 0 : tune_set_value(t, (enum ptt_tune)i, s->v[i], &e);

		if (rc < 0)
			return tune_keep_failure(t, (enum ptt_tune)i, rc, &e);
	}
	return 0;
}

static int read_before(struct tune *t)
{
	for (unsigned i = 0; i < PTT_TUNES; i++) {
		struct err e = { 0 };
		int rc = t->p->ptt.op->tune_get(t->p->ptt.arg, t->device, (enum ptt_tune)i, &t->before.v[i], &e);

		if (rc < 0)
			return tune_keep_failure(t, (enum ptt_tune)i, rc, &e);
	}
	t->now = t->best = t->before;
	return 0;
}

/* One by one, each with patience: a device that was busy once may not be the next time. What it came to goes behind
 * the words of the failure. */
static void put_back(struct tune *t)
{
	struct err *why = &t->p->err;
	size_t n = strlen(why->text), room = sizeof(why->text);
	bool all = true;

	for (unsigned i = 0; i < PTT_TUNES; i++) {
		for (int k = 0; t->now.v[i] != t->before.v[i] && k < TRIES; k++) {
			struct err e = { 0 };

			(void)tune_set_value(t, (enum ptt_tune)i, t->before.v[i], &e);
		}
		if (t->now.v[i] == t->before.v[i])
			continue;
		if (n < room)
			n += (size_t)snprintf(why->text + n, room - n, "%s %s=%u", all ? "; not restored:" : "",
					      ptt_tunables[i].name, t->before.v[i]);
		all = false;
	}
	if (all && n < room)
		snprintf(why->text + n, room - n, "; the settings of %s are unchanged", t->name);
}

/* ---- a measurement -------------------------------------------------------------------------------------- */

enum view tune_view(const struct tune *t, enum ptt_tune tunable)
{
	return t->o.goal == TALLY_GOAL_LATENCY && tunable == PTT_TUNE_rx_alloc_buf_level ? VIEW_HOST : VIEW_DEVICES;
}

void tune_event(const struct tune *t, enum view view, char *ret, size_t n)
{
	/* Outbound packets, and inbound P, NP and CPL B; outbound ones, and inbound CPL A. */
	static const unsigned direction[VIEWS] = { [VIEW_DEVICES] = 2, [VIEW_HOST] = 3 };

	snprintf(ret, n, "%s/filter=0x%05x,type=7,direction=%u,format=0/", t->name, t->ports, direction[view]);
}

/* The host's view holds what goes out to devices, so requests between devices too. */
static bool tune_judges(const struct tune *t, const struct tlp *request)
{
	return t->view != VIEW_HOST || !(t->function[request->requester / 8] >> request->requester % 8 & 1);
}

static void take_record(struct tune *t, const uint8_t *record)
{
	const struct ptt_decode_opts how = { .format = PTT_4DW, .time = t->time };
	struct tlp tlp = { 0 };
	struct ptt_pair pair;

	ptt_decode(record, &how, &t->clock, &tlp);
	enum ptt_event what = ptt_match_next(t->match, &tlp, &pair);
	t->f.records++;
	if (tlp_type_at(tlp.type_index)->data && what != PTT_DUPLICATE)
		t->f.payload += tlp.length_dw * UINT64_C(4);
	if (what == PTT_DONE && pair.t.status == 0 && tune_judges(t, &pair.request)) {
		t->f.answered++;
		t->f.ticks += pair.t.latency;
	}
}

static void tune_parse_times(struct tune *t, const uint8_t *p, size_t n)
{
	if (t->settled)
		return;
	t->time = (uint8_t)ptt_time_guess(p, n, PTT_4DW, &t->sure);
	t->settled = t->sure || n / (4 * PTT_4DW) >= TIMES_ENOUGH;
}

static int tune_take_chunk(void *arg, const struct ptt_aux *a)
{
	struct tune *t = arg;

	t->f.lost += a->lost;
	if (a->lost || a->flags)
		(void)ptt_match_gap(t->match, 0, NULL, NULL);
	tune_parse_times(t, a->p, a->n);
	for (size_t at = 0; at + 4 * PTT_4DW <= a->n; at += 4 * PTT_4DW)
		if (!ptt_is_padding(a->p + at, PTT_4DW))
			take_record(t, a->p + at);
	return 0;
}

/* What is compared must have done the same. */
static int check_command(struct tune *t, const struct plat_trace *tr)
{
	if (tr->stopped || (t->o.stop && *t->o.stop))
		return plat_fail(t->p, TALLY_EEND, "interrupted");
	if (tr->status > 125)
		t->result.status = tr->status;
	if (tr->status > 125)
		return plat_fail(t->p, TALLY_EIO, "the command exited with status %d", tr->status);
	if (t->ndone && tr->status != t->status)
		return plat_fail(t->p, TALLY_EIO,
				 "the command exited with status %d, before with %d: the runs cannot be compared",
				 tr->status, t->status);
	t->status = tr->status;
	return 0;
}

static int tune_take_trace(struct tune *t, enum view view)
{
	char event[96];
	struct plat_trace tr = {
		.event = event,
		.argv = t->o.argv,
		.duration_ns = t->o.duration_ns,
		.stop = t->o.stop,
		.take = tune_take_chunk,
		.arg = t,
	};
	tally_write_fn *note = t->p->o.note;
	int rc = ptt_match_open(&t->match, OUTSTANDING_MOST);

	if (rc < 0)
		return plat_oom(t->p);
	tune_event(t, view, event, sizeof(event));
	ptt_match_twice(t->match, 0, view == VIEW_DEVICES);
	t->view = view;
	t->clock = (struct ptt_clock){ 0 };
	t->f = (struct figures){ 0 };
	t->p->o.note = t->ndone ? NULL : note; /* once is enough */
	rc = plat_trace(t->p, &tr);
	t->p->o.note = note;
	t->f.ns = tr.ns;
	ptt_match_close(t->match);
	t->match = NULL;
	if (rc == -TALLY_EINVAL && tr.status > 125)
		t->result.status = tr.status; /* it could not be run */
	return rc < 0 ? rc : check_command(t, &tr);
}

static int tune_measure_setting(struct tune *t, const struct setting *s, enum view view, enum verdict verdict)
{
	int rc;

	if (t->o.progress && t->o.progress(t->o.arg, t->ndone + 1, 0) < 0)
		return plat_fail(t->p, TALLY_EEND, "interrupted");
	rc = tune_apply_setting(t, s);
	if (rc >= 0)
		rc = tune_take_trace(t, view);
	if (rc >= 0)
		t->done[t->ndone++] = (struct measured){ .s = *s, .f = t->f, .view = view, .verdict = verdict };
	return rc;
}

/* ---- which is better ----------------------------------------------------------------------------------------- */

uint64_t tune_rate(const struct figures *f)
{
	unsigned __int128 whole = (unsigned __int128)f->payload * (f->records + f->lost);

	return f->ns && f->records ? (uint64_t)(whole / f->records * 1000000000u / f->ns) : 0;
}

uint64_t tune_cost(const struct tune *t, const struct figures *f)
{
	uint64_t rate = tune_rate(f);

	if (t->o.goal == TALLY_GOAL_LATENCY)
		return f->answered ? f->ticks * 1000 / f->answered : UINT64_MAX;
	return rate ? UINT64_C(1000000000000000000) / rate : UINT64_MAX;
}

static bool tune_latency_gains(uint64_t now, uint64_t than)
{
	return (unsigned __int128)now * (1000 + MARGIN) < (unsigned __int128)than * 1000;
}

static bool measured_has_setting(const struct measured *m, const struct setting *s, enum view view)
{
	return m->view == view && tune_same(&m->s, s);
}

/* Costs of a setting in a view, of the measurements from `from` on; n is 0 where there is none. */
struct costs {
	uint64_t least, median, most;
	uint32_t n;
};

static struct costs tune_setting_costs(const struct tune *t, const struct setting *s, enum view view, uint32_t from)
{
	uint64_t v[MEASURES_MOST];
	uint32_t n = 0;

	for (uint32_t i = from; i < t->ndone; i++) {
		uint64_t c = tune_cost(t, &t->done[i].f);
		uint32_t k = n;

		if (!measured_has_setting(&t->done[i], s, view))
			continue;
		for (; k > 0 && v[k - 1] > c; k--)
			v[k] = v[k - 1];
		v[k] = c;
		n++;
	}
	return n ? (struct costs){ v[0], v[n / 2], v[n - 1], n } : (struct costs){ .n = 0 };
}

/* Of the measurements from `from` on, which are of s and of the best so far: how often s was not better than the
 * best. */
static uint32_t not_won(const struct tune *t, const struct setting *s, uint32_t from)
{
	uint32_t n = 0;

	for (uint32_t i = from; i < t->ndone; i++)
		for (uint32_t k = from; k < t->ndone; k++)
			n += tune_same(&t->done[i].s, s) && !tune_same(&t->done[k].s, s) &&
			     tune_cost(t, &t->done[i].f) >= tune_cost(t, &t->done[k].f);
	return n;
}

/* Whether the setting of `first` is better than the best so far, as far as that isn't chance. */
static int setting_beats_best(struct tune *t, struct measured *first, bool *ret)
{
	const struct setting *s = &first->s;
	const enum view view = (enum view)first->view;
	const uint32_t pairs = TUNE_LOTS * TUNE_LOTS, from = t->ndone;
	const double bound = tune_bound(t->o.one_in, ++t->nheld);
	double chance = 0;
	uint32_t lost = 0;
	int rc = 0;

	for (uint32_t block = 1; block <= TUNE_BLOCKS && chance <= HOPELESS; block++) {
		uint32_t lost_here = 0, begin = t->ndone;
		bool turn[2 * TUNE_LOTS];

		tune_draw(&t->random, turn);
		for (uint32_t i = 0; i < 2 * TUNE_LOTS && chance <= HOPELESS; i++) {
			rc = tune_measure_setting(t, turn[i] ? s : &t->best, view, REFERENCE);
			if (rc < 0)
				return rc;
			lost_here = not_won(t, s, begin);
			chance = tune_chance(block, block * pairs - lost - lost_here);
		}
		lost += lost_here;
		if (chance <= bound)
			break;
	}
	first->cost = tune_setting_costs(t, s, view, from).median;
	first->best = tune_setting_costs(t, &t->best, view, from).median;
	*ret = chance <= bound && tune_latency_gains(first->cost, first->best);
	return 0;
}

/* ---- the search --------------------------------------------------------------------------------------------- */

static bool is_weight(enum ptt_tune tunable)
{
	return tunable <= PTT_TUNE_qos_tx_p;
}

/* Weights all alike are one setting, whatever they are. */
static struct setting tune_normal_setting(struct setting s)
{
	if (s.v[PTT_TUNE_qos_tx_cpl] == s.v[PTT_TUNE_qos_tx_np] && s.v[PTT_TUNE_qos_tx_np] == s.v[PTT_TUNE_qos_tx_p])
		s.v[PTT_TUNE_qos_tx_cpl] = s.v[PTT_TUNE_qos_tx_np] = s.v[PTT_TUNE_qos_tx_p] = 1;
	return s;
}

static bool was_tried(const struct tune *t, const struct setting *s, enum view view)
{
	struct setting a = tune_normal_setting(*s), b;

	for (uint32_t i = 0; i < t->ndone; i++) {
		b = tune_normal_setting(t->done[i].s);
		if (t->done[i].view == view && tune_same(&a, &b))
			return true;
	}
	return false;
}

bool tune_can_help(const struct tune *t, enum ptt_tune tunable, uint32_t from, uint32_t to)
{
	return from != to && (is_weight(tunable) || t->o.goal == TALLY_GOAL_LATENCY || to > from);
}

static int try_setting(struct tune *t, const struct setting *s, enum view view, bool *found)
{
	struct measured *first;
	bool better = false, looks;
	int rc = tune_setting_costs(t, &t->best, view, 0).n ? 0 : tune_measure_setting(t, &t->best, view, REFERENCE);

	first = &t->done[t->ndone];
	if (rc >= 0)
		rc = tune_measure_setting(t, s, view, NO_BETTER);
	if (rc < 0)
		return rc;
	first->cost = tune_cost(t, &first->f);
	first->best = tune_setting_costs(t, &t->best, view, 0).median;
	looks = tune_latency_gains(first->cost, first->best);
	if (looks)
		rc = setting_beats_best(t, first, &better);
	first->verdict = better ? BETTER : looks ? UNCERTAIN : NO_BETTER;
	if (rc >= 0 && better) {
		t->best = *s;
		*found = true;
	}
	return rc;
}

static int try_values(struct tune *t, enum ptt_tune tunable, bool *found)
{
	/* What may be the end of the way first: a step costs more than a look. */
	static const uint8_t order[][PTT_TUNE_MOST + 1] = {
		[TALLY_GOAL_LATENCY] = { 0, 2, 1 },
		[TALLY_GOAL_THROUGHPUT] = { 2, 0, 1 },
	};
	enum view view = tune_view(t, tunable);
	int rc = 0;

	for (unsigned i = 0; rc >= 0 && t->shows[view] && i <= PTT_TUNE_MOST; i++) {
		struct setting s = t->best;

		s.v[tunable] = order[t->o.goal][i];
		if (tune_can_help(t, tunable, t->best.v[tunable], s.v[tunable]) && !was_tried(t, &s, view) &&
		    t->ndone + 2 + 2 * TUNE_LOTS * TUNE_BLOCKS <= MEASURES_MOST)
			rc = try_setting(t, &s, view, found);
	}
	return rc;
}

static int tune_search_settings(struct tune *t)
{
	/* Watermarks first: they matter most. */
	static const enum ptt_tune order[] = { PTT_TUNE_tx_alloc_buf_level, PTT_TUNE_rx_alloc_buf_level,
					       PTT_TUNE_qos_tx_cpl, PTT_TUNE_qos_tx_np, PTT_TUNE_qos_tx_p };
	bool found = true;
	int rc = 0;

	static_assert(COUNT(order) == PTT_TUNES, "each has its turn");
	while (rc >= 0 && found) {
		found = false;
		for (size_t i = 0; rc >= 0 && i < COUNT(order); i++)
			rc = try_values(t, order[i], &found);
	}
	return rc;
}

/* ---- a run ---------------------------------------------------------------------------------------------------- */

static int tune_find_best(struct tune *t)
{
	const struct ptt_pmu *pmu;
	uint32_t n;
	int rc = plat_ptt_device(t->p, t->o.device, strlen(t->o.device), &t->device);

	if (rc >= 0)
		rc = plat_ptt_list(t->p, &pmu, &n);
	if (rc < 0)
		return rc;
	pmu += t->device;
	for (uint32_t i = 0; i < pmu->nfilters; i++) {
		const uint32_t value = pmu->filter[i].value;

		if (pmu->filter[i].port)
			t->ports |= value;
		else if (value < 1 << 16)
			t->function[value / 8] |= (uint8_t)(1u << value % 8);
	}
	if (!t->ports)
		return plat_fail(t->p, TALLY_ENOTSUP, "%s has no root port to trace", pmu->name);
	snprintf(t->name, sizeof(t->name), "%s", pmu->name);
	if (!t->settled && pmu->time != PTT_TIME_AUTO) {
		t->time = pmu->time;
		t->settled = t->sure = true;
	}
	return read_before(t);
}

static int first_look(struct tune *t)
{
	bool latency = t->o.goal == TALLY_GOAL_LATENCY, any = false;
	int rc = 0;

	for (unsigned view = 0; rc >= 0 && view <= (latency ? VIEW_HOST : VIEW_DEVICES); view++) {
		rc = tune_measure_setting(t, &t->before, (enum view)view, AS_IT_WAS);
		t->shows[view] = rc >= 0 && tune_cost(t, &t->done[view].f) != UINT64_MAX;
		any |= t->shows[view];
	}
	if (rc < 0 || any)
		return rc;
	return plat_fail(t->p, TALLY_ENOTSUP, "nothing to compare: %s during the trace",
			 latency ? "no request was answered" : "no payload crossed the links");
}

/* In the guard, when we are gone: a connection of its own, and all of them, since it can't know which were changed. */
static void tune_undo_settings(void *arg)
{
	struct tune *t = arg;
	struct tally_platform_opts o = t->p->o;
	struct tally_platform *p;
	char text[96];

	o.note = NULL;
	if (tally_platform_open(&p, &o) >= 0)
		for (unsigned i = 0; i < PTT_TUNES; i++) {
			snprintf(text, sizeof(text), "%s/%s=%u", t->name, ptt_tunables[i].name, t->before.v[i]);
			for (int k = 0; k < TRIES && tally_set(p, text) < 0; k++)
				;
		}
	tally_platform_close(p);
}

static int tune_run(struct tune *t)
{
	int rc = first_look(t);

	if (rc >= 0)
		rc = tune_search_settings(t);
	if (rc >= 0)
		rc = tune_apply_setting(t, &t->best);
	if (rc < 0)
		return rc;
	tune_table(t);
	return plat_flush(t->p, &t->o.to);
}

/* A model in this process ends with it, and needs no guard. */
static int run_guarded(struct tune *t)
{
	const struct plat_row *row = t->p->on.row;
	struct k_guard g = { 0 };
	struct err e = { 0 };
	int rc = row->is == PLAT_MODEL ? 0 : k_guard_start(&g, tune_undo_settings, t, &e);

	if (rc < 0)
		return plat_fail(t->p, TALLY_EIO, "%s", e.text);
	rc = tune_run(t);
	if (rc < 0)
		put_back(t);
	k_guard_end(&g);
	if (rc >= 0 && !tune_same(&t->best, &t->before))
		plat_note_not_kept(t->p);
	return rc;
}

static int check_options(struct tune *t)
{
	struct tally_tune_opts *o = &t->o;

	if (!o->device || o->goal > TALLY_GOAL_THROUGHPUT || o->dry_run > 1 || o->time > TALLY_PTT_TIME_DELTA)
		return plat_fail(t->p, TALLY_EINVAL, "a device and a goal (latency or throughput) are required");
	if (!o->argv && !o->duration_ns && !o->dry_run && t->p->on.row->is != PLAT_MODEL)
		return plat_fail(t->p, TALLY_EINVAL, "nothing to measure: give a command or a duration");
	if (!o->argv && !o->duration_ns)
		o->duration_ns = DURATION_NS;
	if (!o->one_in)
		o->one_in = ONE_IN;
	t->settled = t->sure = o->time != TALLY_PTT_TIME_FOUND;
	t->time = o->time == TALLY_PTT_TIME_DELTA ? PTT_TIME_DELTA : PTT_TIME_ABS;
	return 0;
}

int tally_tune(struct tally_platform *p, const struct tally_tune_opts *opts, struct tally_tune_result *ret)
{
	struct tune *t;
	int rc = plat_enter(p);

	if (rc < 0)
		return rc;
	t = mem_alloc(sizeof(*t));
	if (!t)
		return plat_oom(p);
	t->p = p;
	rc = plat_take(p, &t->o, sizeof(t->o), opts);
	if (rc >= 0)
		rc = plat_emit_open(p, &t->o.to);
	if (rc >= 0)
		rc = check_options(t);
	if (rc >= 0)
		rc = tune_find_best(t);
	if (rc >= 0 && t->o.dry_run) {
		tune_plan(t);
		rc = plat_flush(p, &t->o.to);
	} else if (rc >= 0) {
		rc = run_guarded(t);
	}
	opts_give(ret, &t->result, sizeof(t->result));
	mem_free(t);
	return rc;
}
