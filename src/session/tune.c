/*
 * tune.c: trace, set, trace again, compare (hisi_ptt.rst recommends to use tuning and tracing
 * together; this is that loop).
 *
 * A measurement is a trace of everything below the device's root ports while the command runs: what
 * payload crossed in the time, and how long requests waited for their last completion.  Not
 * all 243 settings are tried: one tunable after the other, from what is best so far, and only
 * values that can help the goal: a watermark is raised for throughput and lowered for latency, and
 * weights that stand to each other as some tried ones do are the same setting.  A second pass is made when
 * the first found something.  A gain that chance could be is measured again, in turn with what it is held against, and so are at
 * the end the best and what was there; medians decide, and a gain below MARGIN per mille is none.
 *
 * Whatever ends it, what was there comes back, unless something better was found: a failed trace, a
 * command that dies, an interrupt; and if this process is killed, a guard puts it back.
 */
#include <stdio.h>
#include <string.h>

#include "kernel/kernel.h"
#include "session/platform_int.h"
#include "session/ptt_int.h"

#define MARGIN 5u                             /* per mille */
#define CLEAR 40u                             /* per mille: a gain that needs no second look */
#define ROUNDS 3u                             /* measurements of both, the first ones included */
#define MEDIAN_MOST 9u                        /* measurements of one setting that are looked at */
#define MEASURES_MOST 128u
#define DURATION_NS UINT64_C(20000000)
#define OUTSTANDING_MOST 65536u
#define DIRECTION_DMA 2u                      /* outbound, and inbound P, NP and CPL B: requests of devices, with answers */
#define DIRECTION_HOST 3u                     /* outbound, and inbound CPL A: requests of the host, with answers */

struct setting { uint8_t v[PTT_TUNES]; };
struct figures { uint64_t ns, payload, answered, ticks, records, lost; };
struct measured { struct setting s; struct figures f; char verdict[24]; };

struct tune {
	struct tally_platform *p;
	struct tally_tuning o;
	uint32_t device;
	char name[32];
	char event[96];
	struct setting before, now;
	struct measured done[MEASURES_MOST];
	uint32_t ndone, best;
	/* of the measurement at hand */
	struct ptt_match *match;
	struct ptt_clock clock;
	struct figures f;
};

/* ---- settings ----------------------------------------------------------------------------------- */

static bool same(const struct setting *a, const struct setting *b)
{
	return !memcmp(a->v, b->v, sizeof(a->v));
}

static int apply(struct tune *t, const struct setting *s)
{
	struct tally_platform *p = t->p;

	for (unsigned i = 0; i < PTT_TUNES; i++) {
		struct err e = { 0 };
		int rc = s->v[i] == t->now.v[i] ? 0 : p->ptt.op->tune_set(p->ptt.arg, t->device, (enum ptt_tune)i, s->v[i], &e);

		if (rc < 0)
			return plat_fail(p, (enum tally_err)-rc, "%s/%s: %s", t->name, ptt_tunables[i].name,
					 e.text[0] ? e.text : tally_strerror(rc));
		t->now.v[i] = s->v[i];
	}
	return 0;
}

static int read_before(struct tune *t)
{
	struct tally_platform *p = t->p;

	for (unsigned i = 0; i < PTT_TUNES; i++) {
		struct err e = { 0 };
		uint32_t v;
		int rc = p->ptt.op->tune_get(p->ptt.arg, t->device, (enum ptt_tune)i, &v, &e);

		if (rc < 0)
			return plat_fail(p, (enum tally_err)-rc, "%s/%s: %s", t->name, ptt_tunables[i].name,
					 e.text[0] ? e.text : tally_strerror(rc));
		t->before.v[i] = (uint8_t)(v < PTT_TUNE_MOST ? v : PTT_TUNE_MOST);
	}
	t->now = t->before;
	return 0;
}

static bool is_weight(unsigned tunable)
{
	return tunable <= PTT_TUNE_qos_tx_p;
}

/* Weights all alike are one setting, whatever they are. */
static bool equivalent(const struct setting *a, const struct setting *b)
{
	struct setting x = *a, y = *b;
	struct setting *const both[] = { &x, &y };

	for (unsigned k = 0; k < 2; k++) {
		uint8_t *v = both[k]->v;

		if (v[PTT_TUNE_qos_tx_cpl] == v[PTT_TUNE_qos_tx_np] && v[PTT_TUNE_qos_tx_np] == v[PTT_TUNE_qos_tx_p])
			v[PTT_TUNE_qos_tx_cpl] = v[PTT_TUNE_qos_tx_np] = v[PTT_TUNE_qos_tx_p] = 1;
	}
	return same(&x, &y);
}

static bool was_tried(const struct tune *t, const struct setting *s)
{
	for (uint32_t i = 0; i < t->ndone; i++)
		if (equivalent(&t->done[i].s, s))
			return true;
	return false;
}

static bool can_help(const struct tune *t, unsigned tunable, uint8_t from, uint8_t to)
{
	if (from == to)
		return false;
	return is_weight(tunable) || (t->o.goal == TALLY_GOAL_THROUGHPUT ? to > from : to < from);
}

/* ---- a measurement --------------------------------------------------------------------------------- */

static void take_record(struct tune *t, const uint8_t *record)
{
	static const struct ptt_decode_opts how = { .format = PTT_4DW, .time = PTT_TIME_ABS };
	struct tlp tlp = { 0 };
	struct ptt_pair pair;

	ptt_decode(record, &how, &t->clock, &tlp);
	t->f.records++;
	if (tlp_type_at(tlp.type_index)->data)
		t->f.payload += tlp.length_dw * UINT64_C(4);
	if (ptt_match_next(t->match, &tlp, &pair) == PTT_DONE && pair.t.status == 0) {
		t->f.answered++;
		t->f.ticks += pair.t.latency;
	}
}

static int take(void *arg, const struct ptt_aux *a)
{
	struct tune *t = arg;

	t->f.lost += a->lost;
	for (size_t at = 0; at + 4 * PTT_4DW <= a->n; at += 4 * PTT_4DW)
		if (!ptt_is_padding(a->p + at, PTT_4DW))
			take_record(t, a->p + at);
	return 0;
}

static int check_command(struct tune *t, const struct plat_trace *tr)
{
	if (tr->stopped)
		return plat_fail(t->p, TALLY_EEND, "interrupted: %s is as it was before", t->name);
	if (tr->status > 125)
		return plat_fail(t->p, TALLY_EIO, "the command ended with status %d: %s is as it was before", tr->status, t->name);
	if (!t->f.records)
		return plat_fail(t->p, TALLY_ENOTSUP, "nothing crossed the links of %s meanwhile: there is nothing to compare", t->name);
	return 0;
}

static int trace(struct tune *t, struct figures *ret)
{
	struct plat_trace tr = {
		.event = t->event, .argv = t->o.argv, .duration_ns = t->o.argv ? 0 : t->o.duration_ns, .stop = t->o.stop, .take = take,
		.arg = t,
	};
	int rc = ptt_match_open(&t->match, OUTSTANDING_MOST);

	if (rc < 0)
		return plat_fail(t->p, TALLY_ENOMEM, "out of memory");
	t->clock = (struct ptt_clock){ 0 };
	t->f = (struct figures){ 0 };
	rc = plat_trace(t->p, &tr);
	ptt_match_close(t->match);
	t->match = NULL;
	if (rc >= 0)
		rc = check_command(t, &tr);
	t->f.ns = tr.ns;
	*ret = t->f;
	return rc;
}

static int measure(struct tune *t, const struct setting *s, const char *verdict)
{
	struct measured *m = &t->done[t->ndone];
	int rc = t->ndone < MEASURES_MOST ? apply(t, s) : plat_fail(t->p, TALLY_ESTATE, "too many measurements");

	if (rc >= 0)
		rc = trace(t, &m->f);
	if (rc < 0)
		return rc;
	m->s = *s;
	snprintf(m->verdict, sizeof(m->verdict), "%s", verdict);
	t->ndone++;
	if (t->o.progress && t->o.progress(t->o.arg, t->ndone, 0) < 0)
		return plat_fail(t->p, TALLY_EEND, "interrupted: %s is as it was before", t->name);
	return 0;
}

/* More is better: bytes per second; or the inverse of the mean latency, in 1e12 / ticks. */
static uint64_t score(const struct tune *t, const struct figures *f)
{
	uint64_t whole = f->records + f->lost;

	if (t->o.goal == TALLY_GOAL_LATENCY)
		return f->ticks ? (uint64_t)((unsigned __int128)f->answered * 1000000000000u / f->ticks) : 0;
	return f->ns ? (uint64_t)((unsigned __int128)f->payload * 1000000000u / f->ns * whole / (f->records ? f->records : 1)) : 0;
}

static bool gains(uint64_t now, uint64_t than, uint32_t per_mille)
{
	return (unsigned __int128)now * 1000 > (unsigned __int128)than * (1000 + per_mille);
}

/* The median score of a setting's measurements. */
static uint64_t median(const struct tune *t, const struct setting *s)
{
	uint64_t v[MEDIAN_MOST], swap;
	uint32_t n = 0;

	for (uint32_t i = t->ndone; i-- > 0 && n < MEDIAN_MOST;)
		if (same(&t->done[i].s, s))
			v[n++] = score(t, &t->done[i].f);
	for (uint32_t i = 1; i < n; i++)
		for (uint32_t k = i; k > 0 && v[k] < v[k - 1]; k--) {
			swap = v[k];
			v[k] = v[k - 1];
			v[k - 1] = swap;
		}
	return v[n / 2];
}

/* Both again, in turn. */
static int look_again(struct tune *t, const struct setting *a, const struct setting *b)
{
	int rc = 0;

	for (uint32_t i = 1; rc >= 0 && i < ROUNDS; i++) {
		rc = measure(t, a, "again");
		if (rc >= 0)
			rc = measure(t, b, "again");
	}
	return rc;
}

/* Whether the last measurement beats the best so far. */
static int is_better(struct tune *t, bool *ret)
{
	struct setting best = t->done[t->best].s, last = t->done[t->ndone - 1].s;
	int rc = 0;

	*ret = gains(median(t, &last), median(t, &best), MARGIN);
	if (*ret && !gains(median(t, &last), median(t, &best), CLEAR)) {
		rc = look_again(t, &best, &last);
		if (rc >= 0)
			*ret = gains(median(t, &last), median(t, &best), MARGIN);
	}
	return rc;
}

/* ---- the search --------------------------------------------------------------------------------------- */

static int try_values(struct tune *t, unsigned tunable, bool *found)
{
	struct setting from = t->done[t->best].s;
	int rc = 0;

	for (uint8_t v = 0; rc >= 0 && v <= PTT_TUNE_MOST; v++) {
		struct setting s = from;
		uint32_t at = t->ndone;
		bool better = false;

		s.v[tunable] = v;
		if (!can_help(t, tunable, from.v[tunable], v) || was_tried(t, &s))
			continue;
		rc = measure(t, &s, "tried");
		if (rc >= 0)
			rc = is_better(t, &better);
		if (better) {
			t->best = at;
			*found = true;
		}
	}
	return rc;
}

static int search(struct tune *t)
{
	/* Watermarks first: they matter most. */
	static const enum ptt_tune order[] = { PTT_TUNE_tx_alloc_buf_level, PTT_TUNE_rx_alloc_buf_level, PTT_TUNE_qos_tx_cpl,
					       PTT_TUNE_qos_tx_np, PTT_TUNE_qos_tx_p };
	bool found = true;
	int rc = 0;

	for (int pass = 0; rc >= 0 && pass < 2 && found; pass++) {
		found = false;
		for (size_t i = 0; rc >= 0 && i < COUNT(order); i++)
			rc = try_values(t, order[i], &found);
	}
	return rc;
}

static int confirm(struct tune *t)
{
	struct setting best = t->done[t->best].s;
	int rc = t->best ? look_again(t, &t->before, &best) : 0;

	if (rc >= 0 && t->best && !gains(median(t, &best), median(t, &t->before), MARGIN))
		t->best = 0;
	return rc;
}

/* ---- the table ------------------------------------------------------------------------------------------ */

static int64_t change(const struct tune *t, const struct figures *f)
{
	uint64_t base = score(t, &t->done[0].f), now = score(t, f);

	if (t->o.goal == TALLY_GOAL_LATENCY) {        /* of the latency itself */
		uint64_t swap = base;

		base = now;
		now = swap;
	}
	return base ? (int64_t)((__int128)((int64_t)now - (int64_t)base) * 1000 / (int64_t)base) : 0;
}

static uint64_t mean_ticks(const struct figures *f)
{
	return f->answered ? f->ticks / f->answered : 0;
}

static uint64_t mib(const struct figures *f)
{
	return f->ns ? (uint64_t)((unsigned __int128)f->payload * 1000000000u / f->ns >> 20) : 0;
}

static void json_row(struct buf *to, const struct measured *m, int64_t change, const char *verdict)
{
	buf_puts(to, "{\"type\":\"setting\"");
	for (unsigned k = 0; k < PTT_TUNES; k++)
		buf_printf(to, ",\"%s\":%u", ptt_tunables[k].name, m->s.v[k]);
	buf_printf(to, ",\"mib_per_s\":%llu,\"latency_ticks\":%llu,\"answered\":%llu,\"records\":%llu,\"lost\":%llu",
		   (unsigned long long)mib(&m->f), (unsigned long long)mean_ticks(&m->f), (unsigned long long)m->f.answered,
		   (unsigned long long)m->f.records, (unsigned long long)m->f.lost);
	buf_printf(to, ",\"change_permille\":%lld,\"verdict\":\"%s\"}\n", (long long)change, verdict);
}

static void csv_row(struct buf *to, const struct measured *m, int64_t change, const char *verdict, char sep)
{
	const uint64_t v[] = { mib(&m->f), mean_ticks(&m->f), m->f.answered, m->f.records, m->f.lost };

	for (unsigned k = 0; k < PTT_TUNES; k++)
		buf_printf(to, "%u%c", m->s.v[k], sep);
	for (size_t k = 0; k < COUNT(v); k++)
		buf_printf(to, "%llu%c", (unsigned long long)v[k], sep);
	buf_printf(to, "%lld%c%s\n", (long long)change, sep, verdict);
}

static void csv_head(struct buf *to, char sep)
{
	for (unsigned k = 0; k < PTT_TUNES; k++)
		buf_printf(to, "%s%c", ptt_tunables[k].name, sep);
	buf_printf(to, "mib_per_s%1$clatency_ticks%1$canswered%1$crecords%1$clost%1$cchange_permille%1$cverdict\n", sep);
}

static void row(struct tune *t, uint32_t i)
{
	const struct measured *m = &t->done[i];
	const char *verdict = i == 0 ? "as it was" : i == t->best ? "best" : m->verdict;
	struct buf *to = &t->p->out;
	int64_t c = change(t, &m->f);

	if (t->o.to.form == TALLY_PTT_TEXT) {
		for (unsigned k = 0; k < PTT_TUNES; k++)
			buf_printf(to, "%4u", m->s.v[k]);
		buf_printf(to, "  %8llu  %8llu  %9llu  %+6.1f %%  %s\n", (unsigned long long)mib(&m->f), (unsigned long long)mean_ticks(&m->f),
			   (unsigned long long)m->f.answered, (double)c / 10, verdict);
		return;
	}
	if (t->o.to.form == TALLY_PTT_JSON)
		json_row(to, m, c, verdict);
	else
		csv_row(to, m, c, verdict, t->o.to.separator ? t->o.to.separator : ',');
}

static void table(struct tune *t)
{
	struct buf *to = &t->p->out;

	if (t->o.to.form == TALLY_PTT_TEXT)
		buf_printf(to, "%s, for %s (change: of the %s, against what it was)\n\n cpl  np   p  rx  tx     MiB/s   latency   answered"
			       "    change\n", t->name, t->o.goal == TALLY_GOAL_LATENCY ? "latency" : "throughput",
			   t->o.goal == TALLY_GOAL_LATENCY ? "mean latency" : "payload per second");
	else if (t->o.to.form == TALLY_PTT_CSV)
		csv_head(to, t->o.to.separator ? t->o.to.separator : ',');
	for (uint32_t i = 0; i < t->ndone; i++)
		row(t, i);
	if (t->o.to.form != TALLY_PTT_TEXT)
		return;
	if (!t->best) {
		buf_puts(to, "\nNothing better was found: it is as it was.\n");
		return;
	}
	buf_puts(to, "\nSet now:");
	for (unsigned k = 0; k < PTT_TUNES; k++)
		if (t->done[t->best].s.v[k] != t->before.v[k])
			buf_printf(to, " %s=%u (was %u)", ptt_tunables[k].name, t->done[t->best].s.v[k], t->before.v[k]);
	buf_puts(to, "\n");
}

static void plan(struct tune *t)
{
	struct buf *to = &t->p->out;

	buf_printf(to, "Each measurement is a trace of %s\n", t->event);
	for (unsigned k = 0; k < PTT_TUNES; k++) {
		buf_printf(to, "%-20s is %u; would be tried:", ptt_tunables[k].name, t->before.v[k]);
		for (uint8_t v = 0; v <= PTT_TUNE_MOST; v++)
			if (can_help(t, k, t->before.v[k], v))
				buf_printf(to, " %u", v);
		buf_puts(to, "\n");
	}
}

/* ---- a run ----------------------------------------------------------------------------------------------- */

static int find(struct tune *t)
{
	const struct ptt_pmu *pmu;
	uint32_t n, ports = 0;
	int rc = plat_ptt_device(t->p, t->o.device, strlen(t->o.device), &t->device);

	if (rc >= 0)
		rc = plat_ptt_list(t->p, &pmu, &n);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < pmu[t->device].nfilters; i++)
		if (pmu[t->device].filter[i].port)
			ports |= pmu[t->device].filter[i].value;
	if (!ports)
		return plat_fail(t->p, TALLY_ENOTSUP, "%s has no root port that could be traced", pmu[t->device].name);
	snprintf(t->name, sizeof(t->name), "%s", pmu[t->device].name);
	snprintf(t->event, sizeof(t->event), "%s/filter=0x%05x,type=7,direction=%u,format=0/", t->name, ports, DIRECTION_DMA);
	return read_before(t);
}

/* Where no device asks for anything, the host's own requests tell the latency. */
static int baseline(struct tune *t)
{
	int rc = measure(t, &t->before, "as it was");

	if (rc < 0 || t->o.goal != TALLY_GOAL_LATENCY || t->done[0].f.answered)
		return rc;
	*strstr(t->event, "direction=") = '\0';
	snprintf(t->event + strlen(t->event), sizeof(t->event) - strlen(t->event), "direction=%u,format=0/", DIRECTION_HOST);
	t->ndone = 0;
	rc = measure(t, &t->before, "as it was");
	if (rc >= 0 && !t->done[0].f.answered)
		rc = plat_fail(t->p, TALLY_ENOTSUP, "no request was answered meanwhile: there is no latency to compare");
	return rc;
}

/* In the guard, when we are gone: a connection of its own. */
static void put_back(void *arg)
{
	const struct tune *t = arg;
	struct tally_platform_opts o = t->p->o;
	struct tally_platform *p;
	char text[96];

	o.note = NULL;
	o.on = t->p->name;
	o.sysfs = t->p->sysfs;
	if (tally_platform_open(&p, &o) < 0)
		return;
	for (unsigned i = 0; i < PTT_TUNES; i++) {
		snprintf(text, sizeof(text), "%s/%s=%u", t->name, ptt_tunables[i].name, t->before.v[i]);
		(void)tally_set(p, text);
	}
	tally_platform_close(p);
}

static int guarded(struct tune *t)
{
	struct k_guard g = { 0 };
	struct err e = { 0 };
	int rc = t->p->on.row->embedded ? 0 : k_guard_start(&g, put_back, t, &e);

	if (rc < 0)
		return plat_fail(t->p, TALLY_EIO, "%s", e.text);
	rc = baseline(t);
	if (rc >= 0)
		rc = search(t);
	if (rc >= 0)
		rc = confirm(t);
	if (rc < 0)
		t->best = 0;
	(void)apply(t, rc < 0 ? &t->before : &t->done[t->best].s);
	k_guard_end(&g);
	return rc;
}

int tally_tune(struct tally_platform *p, struct tally_tuning *o)
{
	struct tune *t = mem_alloc(sizeof(*t));
	int rc;

	plat_enter(p);
	if (!t)
		return plat_fail(p, TALLY_ENOMEM, "out of memory");
	t->p = p;
	rc = plat_take(p, &t->o, sizeof(t->o), o);
	if (rc >= 0 && (!t->o.device || t->o.goal > TALLY_GOAL_THROUGHPUT))
		rc = plat_fail(p, TALLY_EINVAL, "which device, and for what? latency or throughput");
	if (rc >= 0 && !t->o.argv && !p->on.row->embedded && !t->o.duration_ns)
		rc = plat_fail(p, TALLY_EINVAL, "nothing to measure: give a command, or a duration");
	if (!t->o.duration_ns)
		t->o.duration_ns = DURATION_NS;
	if (rc >= 0)
		rc = find(t);
	if (rc >= 0 && t->o.dry_run)
		plan(t);
	else if (rc >= 0)
		rc = guarded(t);
	if (rc >= 0 && !t->o.dry_run)
		table(t);
	if (rc >= 0)
		rc = plat_flush(p, &t->o.to);
	mem_free(t);
	return rc;
}
