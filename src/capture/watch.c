/*
 * watch.c: the packets of a PTT device, counted for as long as a service runs.
 *
 * A trace runs, its bytes are counted (meter.c) and forgotten.  The AUX ring bounds what waits; what finds no room in
 * it is lost in the device or its driver, which say so, and that is counted.
 *
 * A device hands a buffer over when it is full, so on a slow link counts would be hours old.  When nothing has come for
 * 10 seconds the trace is stopped, which hands over what there is, and started again.  What passes in between is not
 * recorded: that is a gap like any other, but of a model, whose time stands still meanwhile.
 *
 * Time goes on as in stat_watch.c: of a model here, in whole milliseconds; all else is asked for its bytes often
 * enough for a ring of 16 MiB.
 */
#include <string.h>

#include "capture/meter_int.h"
#include "capture/trace_int.h"
#include "capture/watch.h"
#include "kernel/kernel.h"
#include "ptt/dump.h"

#define PREFIX "hisi_ptt"
#define SLICE_NS UINT64_C(1000000)
#define MODEL_EVERY_NS UINT64_C(100000000)
#define MODEL_PASS_NS (MODEL_EVERY_NS / 10) /* of the wall, that a pass takes at most */
#define EVERY_NS UINT64_C(20000000)
#define PASS_BYTES (4 * (size_t)PTT_BUFFER_BYTES) /* taken in one pass: clients are answered in between */
#define OUTSTANDING_MOST 65536u                   /* as for a report */
#define OWN_RING "4M"                             /* our own driver hands over whole rings, Linux' buffers of one */
#define QUIET_NS UINT64_C(10000000000)

struct capture_watch {
	struct watch base; /* first */
	struct tally_platform *p;
	const volatile int *stop;
	bool is_sealed, runs;
	struct ptt_pmu pmu; /* without its filters, which are checked */
	struct plat_traced of;
	struct meter *m;
	uint64_t start_ns, passed_ns; /* by the clock or the platform's own; a model's time so far */
	uint64_t now_ns, came_ns;     /* when it was looked at last, and when bytes came last, likewise */
};

static struct capture_watch *capture_of(struct watch *w)
{
	return (struct capture_watch *)w;
}

static const struct ptt_pmus_ops *capture_ops(const struct capture_watch *w)
{
	return w->p->ptt.op;
}

static int capture_fail(struct capture_watch *w, int rc, const struct err *e)
{
	return plat_fail(w->p, (enum tally_err) - rc, "%s", e->text[0] ? e->text : tally_strerror(rc));
}

/* Of the trace; by the clock where the platform has no time of its own. */
static int capture_now(struct capture_watch *w, uint64_t *ns)
{
	struct err e = { 0 };
	int rc = 0;

	*ns = k_now_ns();
	if (capture_ops(w)->advance)
		*ns = w->start_ns + w->passed_ns;
	else if (capture_ops(w)->now)
		rc = capture_ops(w)->now(w->p->ptt.arg, ns, &e);
	return rc < 0 ? capture_fail(w, rc, &e) : 0;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Counts what there is, not many more bytes than so many; 1: there were some, 0, or negative. */
static int capture_drain(struct capture_watch *w, size_t most)
{
	struct err e = { 0 };
	struct ptt_aux a;
	size_t n = 0;
	int rc = 0;

	while (n < most) {
		a = (struct ptt_aux){ .p = NULL };
		rc = capture_ops(w)->next(w->p->ptt.arg, &a, 0, &e);
		if (rc < 0)
			return capture_fail(w, rc, &e);
		if (rc == 0)
			break;
		rc = meter_take(w->m, &a);
		if (rc < 0)
			return plat_oom(w->p);
		n += a.n;
	}
	return n != 0;
}

static int capture_start(struct capture_watch *w)
{
	struct err e = { 0 };
	int rc = capture_ops(w)->start(w->p->ptt.arg, &w->pmu, &w->of.ask, w->of.ring, &e);

	w->runs = rc >= 0;
	return rc < 0 ? capture_fail(w, rc, &e) : 0;
}

/* What the device has so far is handed over. */
static int capture_flush(struct capture_watch *w)
{
	struct err e = { 0 };
	int rc = capture_ops(w)->stop(w->p->ptt.arg, &e);

	w->runs = false;
	if (rc < 0)
		return capture_fail(w, rc, &e);
	rc = capture_drain(w, SIZE_MAX);
	if (rc >= 0)
		rc = capture_start(w);
	if (rc >= 0 && !capture_ops(w)->advance)
		meter_gap(w->m);
	return rc;
}

/* ---- time -------------------------------------------------------------------------------------- */

static int capture_pass_model(struct capture_watch *w)
{
	const uint64_t began = k_now_ns();
	int rc = 0, n = 0;

	while (rc >= 0 && w->start_ns + w->passed_ns + SLICE_NS <= began && k_now_ns() - began < MODEL_PASS_NS &&
	       !(w->stop && *w->stop)) {
		const uint64_t passed = capture_ops(w)->advance(w->p->ptt.arg, SLICE_NS);

		w->passed_ns += passed;
		rc = capture_drain(w, SIZE_MAX);
		n |= rc > 0;
		if (!passed && !rc)
			return plat_fail(w->p, TALLY_EIO, "%s stands still: its time does not advance",
					 capture_ops(w)->what);
	}
	return rc < 0 ? rc : n;
}

static int capture_watch_pass(struct watch *base)
{
	struct capture_watch *w = capture_of(base);
	int n, rc = plat_enter(w->p);

	if (rc >= 0)
		rc = n = capture_ops(w)->advance ? capture_pass_model(w) : capture_drain(w, PASS_BYTES);
	if (rc >= 0)
		rc = capture_now(w, &w->now_ns);
	if (rc < 0)
		return rc;
	w->came_ns = n ? w->now_ns : w->came_ns;
	if (w->now_ns - w->came_ns < QUIET_NS || w->is_sealed)
		return 0;
	w->came_ns = w->now_ns;
	return capture_flush(w);
}

static double capture_watch_seconds(const struct watch *base)
{
	const struct capture_watch *w = (const struct capture_watch *)base;

	return (double)(w->now_ns - w->start_ns) / 1e9;
}

/* ---- figures ------------------------------------------------------------------------------------- */

/* A figure that is being handed on, and to whom. */
struct capture_reading {
	const struct capture_watch *w;
	watch_take *take;
	void *arg;
	struct watch_figure f;
};

static const char *const capture_packets[] = { "ptt_packets", "packets that the trace has" };
static const char *const capture_bytes[] = { "ptt_bytes", "payload of these packets, without disabled bytes" };
static const char *const capture_twice[] = {
	"ptt_posted_duplicates",
	"posted requests among the packets that may be second records of others: at most so many count twice"
};
static const char *const capture_latency[] = { "ptt_latency_ticks",
					       "time from a request to its last completion, of those that went well" };
static const char *const capture_failed[] = { "ptt_failed", "requests whose completion has another status than SC" };
static const char *const capture_open[] = { "ptt_outstanding",
					    "requests that wait for their completion, of who was answered before" };

/* is_known: else the family is told alone. */
static int capture_give(struct capture_reading *r, const char *const what[static 2], bool grows, bool is_known,
			uint64_t n)
{
	r->f.family = what[0];
	r->f.text = what[1];
	r->f.grows = grows;
	r->f.value = (struct an_cell){ .unit = AN_COUNT, .none = !is_known, .u = n };
	return r->take(r->arg, &r->f);
}

static int capture_give_answers(struct capture_reading *r, const struct meter_answers *a)
{
	const struct watch_buckets b = {
		.last = meter_buckets(), .bucket = a->bucket, .nlast = METER_BUCKETS - 1, .n = a->n, .sum = a->sum
	};
	uint64_t reserved = 0;
	int rc;

	r->f.unit = "ticks";
	r->f.buckets = &b;
	rc = capture_give(r, capture_latency, true, a->n != 0, 0);
	r->f.unit = "";
	r->f.buckets = NULL;
	r->f.nlabels = 3;
	for (uint32_t s = 0; rc >= 0 && s < METER_STATUSES; s++) {
		const char *name = tlp_status_name(s);

		r->f.label[2] = (struct watch_label){ "status", name };
		reserved += name ? 0 : a->failed[s];
		if (name && a->failed[s])
			rc = capture_give(r, capture_failed, true, true, a->failed[s]);
	}
	r->f.label[2] = (struct watch_label){ "status", "reserved" };
	if (rc >= 0 && reserved)
		rc = capture_give(r, capture_failed, true, true, reserved);
	r->f.nlabels = 2;
	return rc;
}

static int capture_give_row(struct capture_reading *r, uint32_t i)
{
	const struct meter_requester *row = r->w->m->row[i];
	char bdf[PTT_BDF_MOST];
	int rc = 0;

	ptt_bdf_text(bdf, 0, row->id);
	for (uint32_t k = 0; rc >= 0 && k < METER_TYPES; k++) {
		const struct meter_cell *c = &row->type[k];

		r->f.label[0] = (struct watch_label){ "requester", i < METER_REQUESTERS ? bdf : "other" };
		r->f.label[1] = (struct watch_label){ "type", tlp_type_at(k)->name };
		r->f.nlabels = 2;
		if (c->packets)
			rc = capture_give(r, capture_packets, true, true, c->packets);
		if (rc >= 0 && c->packets && tlp_type_at(k)->data)
			rc = capture_give(r, capture_bytes, true, true, c->bytes);
		if (rc >= 0 && c->twice)
			rc = capture_give(r, capture_twice, true, true, c->twice);
		if (rc >= 0 && c->answers)
			rc = capture_give_answers(r, c->answers);
	}
	r->f.nlabels = 1;
	return rc >= 0 && row->is_heard ? capture_give(r, capture_open, false, true, row->open) : rc;
}

/* Families are told before there is anything of them, so a page has all from the start. */
static int capture_give_families(struct capture_reading *r)
{
	static const struct meter_answers none;
	int rc;

	r->f.nlabels = 2;
	r->f.label[0] = (struct watch_label){ "requester", "" };
	r->f.label[1] = (struct watch_label){ "type", "" };
	rc = capture_give(r, capture_packets, true, false, 0);
	if (rc >= 0)
		rc = capture_give(r, capture_bytes, true, false, 0);
	if (rc >= 0 && r->w->m->twice)
		rc = capture_give(r, capture_twice, true, false, 0);
	if (rc >= 0)
		rc = capture_give_answers(r, &none);
	r->f.label[2] = (struct watch_label){ "status", "" };
	r->f.nlabels = 3;
	if (rc >= 0)
		rc = capture_give(r, capture_failed, true, false, 0);
	r->f.nlabels = 1;
	return rc < 0 ? rc : capture_give(r, capture_open, false, false, 0);
}

#define METER_UNMATCHED "requests without their completion, and completions without their request, by cause"
static const struct {
	const char *kind, *what[2], *cause;
	bool is_loss;
} capture_counts[METER_COUNTS] = {
#define METER(name, family, cause, is_loss, text) { #name, { family, text }, cause, is_loss },
#include "capture/meter.def"
#undef METER
};

static int capture_give_counts(struct capture_reading *r)
{
	const struct meter *m = r->w->m;
	int rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < METER_COUNTS; i++) {
		r->f.nlabels = capture_counts[i].cause != NULL;
		r->f.label[0] = (struct watch_label){ "cause", capture_counts[i].cause };
		rc = capture_give(r, capture_counts[i].what, true, true, m->count[i]);
	}
	return rc;
}

static int capture_watch_read(struct watch *base, watch_take *take, void *arg)
{
	struct capture_watch *w = capture_of(base);
	struct capture_reading r = { .w = w, .take = take, .arg = arg, .f = { .unit = "" } };
	int rc = plat_enter(w->p);

	if (rc >= 0)
		rc = capture_give_families(&r);
	for (uint32_t i = 0; rc >= 0 && i <= METER_REQUESTERS; i++)
		if (w->m->row[i])
			rc = capture_give_row(&r, i);
	return rc < 0 ? rc : capture_give_counts(&r);
}

static int capture_watch_losses(const struct watch *base, watch_take_loss *take, void *arg)
{
	const struct capture_watch *w = (const struct capture_watch *)base;
	int rc = 0;

	for (uint32_t i = 0; rc >= 0 && w->m && i < METER_COUNTS; i++)
		if (capture_counts[i].is_loss)
			rc = take(arg, capture_counts[i].kind, capture_counts[i].what[1], w->m->count[i]);
	return rc;
}

static bool capture_watch_is_due(const struct watch *base)
{
	(void)base;
	return true;
}

/* ---- life ------------------------------------------------------------------------------------------ */

static void capture_watch_close(struct watch *base)
{
	struct capture_watch *w = capture_of(base);
	struct err e = { 0 };

	if (w->runs)
		(void)capture_ops(w)->stop(w->p->ptt.arg, &e);
	tally_platform_close(w->p);
	meter_close(w->m);
	mem_free(w);
}

static const char *capture_watch_error(const struct watch *base)
{
	const struct capture_watch *w = (const struct capture_watch *)base;

	return w->p ? tally_platform_error(w->p) : "";
}

const char *capture_watch_find(const char *events, size_t *n, size_t *device)
{
	const char *at = events;

	while (strncmp(at, PREFIX, sizeof(PREFIX) - 1)) {
		bool is_within = false; /* slashes, where commas part keys */

		for (; *at && (is_within || *at != ','); at++)
			is_within ^= *at == '/';
		if (!*at)
			return NULL;
		at++;
	}
	*device = strcspn(at, "/,");
	*n = at[*device] == '/' ? *device + 1 + strcspn(at + *device + 1, "/") : *device;
	*n += at[*device] == '/' && at[*n] == '/';
	return at;
}

static const struct watch_ops capture_watch_ops = {
	.close = capture_watch_close,
	.error = capture_watch_error,
	.pass = capture_watch_pass,
	.is_due = capture_watch_is_due,
	.read = capture_watch_read,
	.losses = capture_watch_losses,
	.seconds = capture_watch_seconds,
};

int capture_watch_begin(struct watch **ret, struct tally_platform *p, const struct watch_opts *o)
{
	struct capture_watch *w = mem_alloc(sizeof(*w));
	int rc;

	*ret = w ? &w->base : NULL;
	if (!w) {
		tally_platform_close(p);
		return -TALLY_ENOMEM;
	}
	w->base.ops = &capture_watch_ops;
	w->p = p;
	w->stop = o->stop;
	w->is_sealed = o->is_sealed;
	rc = p->is_open ? plat_enter(p) : -(int)p->err.code;
	if (rc >= 0)
		rc = plat_trace_check(p, o->events, p->on.row->is == PLAT_LOCAL ? NULL : OWN_RING, &w->of);
	if (rc < 0)
		return rc;
	w->base.every_ns = capture_ops(w)->advance ? MODEL_EVERY_NS : EVERY_NS;
	w->pmu = *w->of.pmu;
	w->pmu.filter = NULL;
	w->pmu.nfilters = 0;
	if (meter_open(&w->m, w->of.ask.config, (enum ptt_time)w->pmu.time, OUTSTANDING_MOST) < 0)
		return plat_oom(p);
	w->start_ns = k_now_ns();
	rc = capture_now(w, &w->start_ns);
	w->now_ns = w->came_ns = w->start_ns;
	return rc < 0 ? rc : capture_start(w);
}

int capture_watch_open(struct watch **ret, const struct watch_opts *o)
{
	const struct tally_platform_opts po = watch_platform_opts(o);
	struct tally_platform *p = NULL;
	int rc = tally_platform_open(&p, &po);

	*ret = NULL;
	return p ? capture_watch_begin(ret, p, o) : rc;
}
