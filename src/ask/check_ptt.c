/*
 * check_ptt.c: the invariants of PTT traces, over a model, a socket, this machine's devices, or a recording.
 *
 * A device takes one trace at a time, and no setting of one shows everything.  So each device is traced several times
 * in turn, and shares the time with the others.  What the link carried is read before and after a trace begins, and
 * before and after it ends: of a model, whose time passes in between alone, both readings are the same.
 */
#include <stdio.h>
#include <string.h>

#include "ask/ask_int.h"
#include "base/file.h"
#include "kernel/kernel.h"
#include "ptt/watch.h"

#define SECOND UINT64_C(1000000000)
#define MODEL_NS UINT64_C(50000000)
#define WARM_NS UINT64_C(100000)
#define SLICE_NS UINT64_C(1000000)
#define TURN_MS 10
#define RING (PTT_BUFFERS * (size_t)PTT_BUFFER_BYTES)
#define PORTS 0x80000u /* bit 19 of a filter: it is a mask of root ports */
enum { P = 1, NP = 2, CPL = 4 };

/* Each packet of a core is in one of the first five; the others have requests and completions together. */
static const struct ptt_ask settings[] = {
	{ .format = 1, .direction = 1, .type = P },
	{ .format = 1, .direction = 1, .type = NP },
	{ .format = 1, .direction = 1, .type = CPL },
	{ .format = 1, .direction = 2, .type = P | NP | CPL },
	{ .format = 1, .direction = 3, .type = CPL },
	{ .format = 0, .direction = 0, .type = P | NP | CPL },
	{ .format = 0, .direction = 2, .type = P | NP | CPL },
	{ .format = 0, .direction = 3, .type = P | NP | CPL },
};

struct tracing {
	struct tally_platform *p;
	const struct tally_check_opts *c;
	struct ptt_watch *w;
	uint64_t ns; /* of each trace */
	bool has_link;
	uint64_t at; /* bytes of this trace so far */
	/* the first device that could not be traced */
	int rc;
	struct err why;
};

/* ---- one trace --------------------------------------------------------------------------------------------- */

static int trace_link(struct tracing *k, uint32_t device, struct ptt_link *at, struct err *e)
{
	const struct ptt_pmus *ptt = &k->p->ptt;
	struct err why = { 0 };
	int rc;

	if (!k->has_link)
		return 0;
	rc = ptt->op->link(ptt->arg, device, at, &why);
	k->has_link = rc != -TALLY_ENOTSUP;
	return rc < 0 && k->has_link ? err_set(e, (enum tally_err) - rc, "%s", why.text) : 0;
}

/* What there is is watched. How many pieces, or negative. */
static int trace_take(struct tracing *k, uint8_t format, int timeout_ms, struct err *e)
{
	const struct ptt_pmus *ptt = &k->p->ptt;
	struct ptt_aux a = { .p = NULL };
	int rc, n = 0;

	while ((rc = ptt->op->next(ptt->arg, &a, n ? 0 : timeout_ms, e)) > 0) {
		if (a.lost || a.flags & PTT_AUX_TRUNCATED)
			ptt_watch_gap(k->w, 0, &(struct ptt_gap){ .why = PTT_GAP_TRUNCATED });
		if (a.n)
			ptt_watch_records(k->w, 0, format, a.p, a.n, k->at);
		k->at += a.n;
		a = (struct ptt_aux){ .p = NULL };
		n++;
	}
	return rc < 0 ? rc : n;
}

static int trace_now(const struct tracing *k, uint64_t *ns, struct err *e)
{
	const struct ptt_pmus *ptt = &k->p->ptt;

	*ns = k_now_ns();
	return ptt->op->now ? ptt->op->now(ptt->arg, ns, e) : 0;
}

static bool is_stopped(const struct tracing *k)
{
	return k->c->stop && *k->c->stop;
}

static int trace_pass(struct tracing *k, uint8_t format, struct err *e)
{
	const struct ptt_pmus *ptt = &k->p->ptt;
	uint64_t begin = 0, now = 0;
	int rc = ptt->op->advance ? 0 : trace_now(k, &begin, e);

	for (uint64_t left = k->ns; ptt->op->advance && rc >= 0 && left && !is_stopped(k);) {
		const uint64_t passed = ptt->op->advance(ptt->arg, left < SLICE_NS ? left : SLICE_NS);

		rc = trace_take(k, format, 0, e);
		if (!passed && !rc)
			return err_set(e, TALLY_EIO, "its time stands still");
		left -= passed < left ? passed : left;
	}
	for (now = begin; !ptt->op->advance && rc >= 0 && now - begin < k->ns && !is_stopped(k);) {
		rc = trace_take(k, format, TURN_MS, e);
		if (rc >= 0)
			rc = trace_now(k, &now, e);
	}
	return rc < 0 ? rc : 0;
}

static int trace_one(struct tracing *k, uint32_t device, const struct ptt_pmu *pmu, const struct ptt_ask *ask,
		     struct err *e)
{
	const struct ptt_pmus *ptt = &k->p->ptt;
	struct ptt_watched is = { .ask = *ask, .is_asked = true, .time = pmu->time };
	struct ptt_link at[4] = { { 0 } };
	struct err ignored = { 0 };
	struct buf words = { 0 };
	int rc;

	ptt_ask_text(ask, &words);
	snprintf(is.name, sizeof(is.name), "%.*s", (int)words.n, words.n ? words.p : "");
	buf_free(&words);
	k->at = 0;
	ptt_watch_begin(k->w, 0, &is);
	rc = trace_link(k, device, &at[0], e);
	if (rc >= 0)
		rc = ptt->op->start(ptt->arg, pmu, ask, RING, e);
	if (rc < 0)
		return rc;
	rc = trace_link(k, device, &at[1], e);
	if (rc >= 0)
		rc = trace_pass(k, ask->format ? PTT_8DW : PTT_4DW, e);
	if (rc >= 0)
		rc = trace_link(k, device, &at[2], e);
	if (rc < 0) {
		(void)ptt->op->stop(ptt->arg, &ignored);
		return rc;
	}
	rc = ptt->op->stop(ptt->arg, e);
	if (rc >= 0)
		rc = trace_link(k, device, &at[3], e);
	if (rc >= 0)
		rc = trace_take(k, ask->format ? PTT_8DW : PTT_4DW, 0, e);
	if (rc >= 0 && k->has_link)
		ptt_watch_link(k->w, 0, at);
	return rc;
}

/* ---- all devices -------------------------------------------------------------------------------------------- */

static void check_tunables(struct tracing *k, uint32_t device, const struct ptt_pmu *pmu)
{
	const struct ptt_pmus *ptt = &k->p->ptt;

	for (unsigned t = 0; t < PTT_TUNES; t++) {
		struct err e = { 0 };
		uint32_t value = 0;

		if (ptt->op->tune_get(ptt->arg, device, (enum ptt_tune)t, &value, &e) >= 0)
			ptt_watch_tunable(k->w, pmu->name, (enum ptt_tune)t, value);
	}
}

static uint32_t all_ports(const struct ptt_pmu *pmu)
{
	uint32_t filter = 0;

	for (uint32_t i = 0; i < pmu->nfilters; i++)
		filter |= pmu->filter[i].port ? pmu->filter[i].value : 0;
	return filter;
}

/* A device that is another's is passed over. */
static int check_device(struct tracing *k, uint32_t device)
{
	const struct ptt_pmu *pmu;
	struct err e = { 0 };
	uint32_t n;
	int rc = plat_ptt_list(k->p, &pmu, &n);

	if (rc < 0 || device >= n)
		return rc;
	check_tunables(k, device, &pmu[device]);
	for (size_t i = 0; rc >= 0 && i < COUNT(settings) && !is_stopped(k); i++) {
		struct ptt_ask ask = settings[i];

		snprintf(ask.device, sizeof(ask.device), "%s", pmu[device].name);
		ask.filter = all_ports(&pmu[device]);
		ask.config = ptt_ask_config(&ask);
		if (ask.filter & PORTS)
			rc = trace_one(k, device, &pmu[device], &ask, &e);
	}
	if (rc != -TALLY_EBUSY)
		return rc < 0 ? plat_fail(k->p, (enum tally_err) - rc, "%s: %s", pmu[device].name,
					  e.text[0] ? e.text : tally_strerror(rc)) :
				0;
	plat_note(k->p, "%s is not checked: %s", pmu[device].name, e.text[0] ? e.text : tally_strerror(rc));
	if (!k->rc) {
		k->rc = rc;
		k->why = e;
	}
	return 0;
}

static int check_devices(struct tracing *k)
{
	const bool is_model = k->p->on.row->is == PLAT_MODEL;
	const struct ptt_pmu *pmu;
	uint32_t n = 0;
	int rc = plat_ptt_list(k->p, &pmu, &n);

	if (rc < 0)
		return rc;
	k->has_link = k->p->ptt.op->link != NULL;
	k->ns = (k->c->interval_ns ? k->c->interval_ns : is_model ? MODEL_NS : SECOND) / n / COUNT(settings) + 1;
	if (k->p->ptt.op->advance) /* a machine that has run, like any other */
		(void)k->p->ptt.op->advance(k->p->ptt.arg, WARM_NS);
	for (uint32_t i = 0; rc >= 0 && i < n && !is_stopped(k); i++)
		rc = check_device(k, i);
	if (rc >= 0 && !ptt_watch_seen(k->w))
		return k->rc ? plat_fail(k->p, (enum tally_err) - k->rc, "%s", k->why.text) :
			       plat_fail(k->p, TALLY_ENOTSUP,
					 "nothing was checked: no packets were traced; trace longer "
					 "(-I), or generate traffic on the devices");
	return rc;
}

/* ---- a recording ---------------------------------------------------------------------------------------------- */

/* A device's first chunk: what its trace is. */
static void recording_begin(struct tracing *k, struct ptt_reader *r, const struct ptt_chunk *c)
{
	const struct ptt_device *dev;
	const uint32_t n = ptt_reader_devices(r, &dev);
	struct ptt_watched is = { .time = PTT_TIME_AUTO };
	bool sure = true;

	if (c->device < n) {
		is.tag14 = dev[c->device].tag14;
		is.time = dev[c->device].time;
		is.is_asked = dev[c->device].config != 0;
		ptt_ask_of_config(&is.ask, dev[c->device].config);
		snprintf(is.name, sizeof(is.name), "%s", dev[c->device].name);
	}
	if (is.time == PTT_TIME_AUTO)
		is.time = (uint8_t)ptt_time_guess(c->p, c->n, c->format, &sure);
	if (!sure)
		is.time = PTT_TIME_AUTO;
	ptt_watch_begin(k->w, c->device, &is);
}

static int recording_read(struct tracing *k, struct ptt_reader *r, struct err *e)
{
	bool begun[PTT_WATCH_TRACES] = { false };
	struct ptt_chunk c;
	int rc;

	while ((rc = ptt_reader_next(r, &c, e)) > 0 && !is_stopped(k)) {
		if (c.device >= PTT_WATCH_TRACES)
			return err_set(e, TALLY_ENOTSUP, "it has more than %u devices", PTT_WATCH_TRACES);
		if (!begun[c.device])
			recording_begin(k, r, &c);
		if (c.gap.why && begun[c.device])
			ptt_watch_gap(k->w, c.device, &c.gap);
		begun[c.device] = true;
		if (c.n)
			ptt_watch_records(k->w, c.device, c.format, c.p, c.n, c.offset);
	}
	return rc;
}

static int check_recording(struct tracing *k)
{
	const char *path = k->p->on.path;
	struct ptt_reader *r = NULL;
	struct err e = { 0 };
	struct bytes_in in;
	int rc = file_in_open(&in, path, &e);

	if (rc < 0)
		return plat_fail(k->p, (enum tally_err) - rc, "%s", e.text);
	rc = ptt_reader_open(&r, &in, NULL, &e);
	if (rc >= 0)
		rc = recording_read(k, r, &e);
	if (rc < 0)
		rc = plat_fail(k->p, rc == -TALLY_EINVAL ? TALLY_ECORRUPT : (enum tally_err) - rc, "%s: %s", path,
			       e.text);
	else if (!ptt_watch_seen(k->w))
		rc = plat_fail(k->p, TALLY_ENOTSUP, "nothing was checked: %s has no records", path);
	if (r && ptt_reader_lost(r)->words[0])
		plat_note(k->p, "%s: %s", path, ptt_reader_lost(r)->words);
	ptt_reader_close(r);
	file_in_close(&in);
	return rc;
}

/* Where records are missing and nothing says so, completions do not fit their requests either. */
static bool is_of_transactions(uint32_t i)
{
	return i == PTT_INVARIANT_answers_within_requests || i == PTT_INVARIANT_reads_get_what_they_ask ||
	       i == PTT_INVARIANT_byte_counts_fall || i == PTT_INVARIANT_completions_go_on;
}

int check_ptt(struct tally_platform *p, const struct tally_check_opts *c, struct tally_check_result *result,
	      struct an_rows *t)
{
	static const uint8_t verdict[] = {
		[PTT_HOLDS] = CHECK_HOLDS, [PTT_BROKEN] = CHECK_BROKEN, [PTT_UNKNOWN] = CHECK_UNKNOWN
	};
	struct tracing k = { .p = p, .c = c };
	struct err e = { 0 };
	int rc = ptt_watch_open(&k.w, &e);

	if (rc < 0)
		return plat_fail(p, TALLY_ENOMEM, "%s", e.text);
	rc = p->on.row->is == PLAT_SAVED ? check_recording(&k) : check_devices(&k);
	for (uint32_t i = 0; rc >= 0 && i < PTT_INVARIANT_COUNT; i++) {
		struct err why = { 0 };
		const enum ptt_verdict v = ptt_watch_invariant(k.w, (enum ptt_invariant)i, &why);

		if (v == PTT_BROKEN && p->on.row->is == PLAT_SAVED && is_of_transactions(i)) {
			const size_t n = strlen(why.text);

			snprintf(why.text + n, sizeof(why.text) - n,
				 "; records that are missing from the file look so, "
				 "too: 'tally report' searches for them");
		}
		check_row(p, result, t,
			  (struct check_invariant){ i + 1, ptt_invariants[i].name, verdict[v], ptt_invariants[i].text,
						    why.text });
	}
	ptt_watch_close(k.w);
	return rc;
}
