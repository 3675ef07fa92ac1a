/*
 * hv_records.c: the counters of a platform's hypervisor as a source of records.
 *
 * An ARM_SAMPLE probe is a sample: at an interval of the platform's own time its provider reads the counters, and its
 * program fires once for each record. Only this file advances a model's time, as fast as it can be computed and in
 * small slices; other platforms are waited for. The engine's clock follows, so that `timestamp` is the time since the
 * start, and tick probes fire in between. At the same moment samples come before ticks.
 *
 * Everything is read once before BEGIN, so that deltas count from the start. A counter that can no longer be read
 * ends the run. One that is sometimes refused (a busy register) is left out of that sample, and reported at the end.
 */
#include <poll.h>
#include <string.h>

#include "platform/hv.h"
#include "session/session_int.h"

#define SLICE_NS 1000000u /* of a model's time, for a turn */
#define TURN_MS 100

struct hv_sample {
	struct sample s;
	const struct provider *prov; /* outlives the probe */
	uint64_t due_ns;             /* since the start */
	uint64_t late;               /* times when it was due again before it had been read */
};
struct hv_source {
	struct records base; /* is first */
	struct tally_platform *p;
	struct prov_reader reader;
	uint64_t start_ns, passed_ns; /* of the platform's time */
	struct hv_sample **sample;
	uint32_t nsamples, capsamples;
};

static struct hv_source *source_of(const struct tally_trace *t)
{
	return (struct hv_source *)t->records;
}

/* ---- samples ------------------------------------------------------------------------------------------ */

/* Either the provider could not read, and e says why; or who took the sample failed, and has told the trace why. */
static int sample_failed(struct tally_trace *t, const struct sample *s, int rc, const struct err *e)
{
	return !e->code ? rc :
			  trace_fail(t, (enum tally_err) - rc, "failed to read %s:::%s: %s", s->probe->prov->name,
				     s->probe->name, e->text[0] ? e->text : tally_strerror(rc));
}

static int sample_take(void *arg, uint32_t prog, const void *context, uint32_t n)
{
	return records_fire(arg, prog, context, n);
}

static void sample_note(void *arg, const char *text)
{
	trace_note(arg, "%s", text);
}

static void drop_samples(struct hv_source *src)
{
	for (uint32_t i = 0; i < src->nsamples; i++) {
		struct hv_sample *s = src->sample[i];

		s->prov->end(&s->s);
		mem_free(s);
	}
	mem_free(src->sample);
	src->sample = NULL;
	src->nsamples = src->capsamples = 0;
}

static int sample_start(struct tally_trace *t, uint32_t prog, const struct probe *p)
{
	struct hv_source *src = source_of(t);
	struct hv_sample *s = mem_alloc(sizeof(*s)),
			 **to = s ? VEC_NEW(src->sample, src->nsamples, src->capsamples) : NULL;
	struct err e = { 0 };
	int rc;

	if (!to) {
		mem_free(s);
		return trace_nomem(t);
	}
	*s = (struct hv_sample){ .s = { .probe = p, .prog = prog, .reader = &src->reader },
				 .prov = p->prov,
				 .due_ns = p->tick_ns };
	*to = s;
	rc = p->prov->begin(&s->s, &e);
	return rc < 0 ? sample_failed(t, &s->s, rc, &e) : 0;
}

static int hv_start(struct tally_trace *t)
{
	struct hv_source *src = source_of(t);
	int rc = 0;

	drop_samples(src); /* of a start that failed */
	src->reader.transport = src->base.transport;
	src->reader.sun4v = src->base.sun4v;
	src->reader.take = sample_take;
	src->reader.note = sample_note;
	src->reader.arg = t;
	for (uint32_t i = 0; rc >= 0 && i < t->img->nprogs; i++) {
		const struct probe *p = probes_get(t->probes, t->img->prog[i].probe);

		if (p->arm == ARM_SAMPLE)
			rc = sample_start(t, i, p);
	}
	src->start_ns = hv_now(src->base.transport);
	src->passed_ns = 0;
	return rc;
}

/* ---- time ------------------------------------------------------------------------------------------------- */

static uint64_t next_due(const struct hv_source *src)
{
	uint64_t due = UINT64_MAX;

	for (uint32_t i = 0; i < src->nsamples; i++)
		due = src->sample[i]->due_ns < due ? src->sample[i]->due_ns : due;
	return due;
}

/* Lets some time pass: whether `to` is reached. */
static bool source_reach(struct hv_source *src, uint64_t to, int timeout_ms)
{
	struct hv_transport *l = src->base.transport;
	uint64_t left, ms;

	if (!l->op->advance)
		src->passed_ns = hv_now(l) - src->start_ns;
	left = to > src->passed_ns ? to - src->passed_ns : 0;
	if (l->op->advance) {
		uint64_t slice = left < SLICE_NS ? left : SLICE_NS;

		if (slice)
			l->op->advance(l->arg, slice);
		src->passed_ns += slice;
		return slice == left;
	}
	ms = left / 1000000 + (left % 1000000 != 0);
	if (ms)
		(void)poll(NULL, 0,
			   ms < TURN_MS && (timeout_ms < 0 || ms < (uint64_t)timeout_ms) ? (int)ms :
			   timeout_ms >= 0 && timeout_ms < TURN_MS                       ? timeout_ms :
											   TURN_MS);
	return !ms;
}

/* The next time after this one: what is missed meanwhile is missed. */
static void sample_set_due(const struct hv_source *src, struct hv_sample *s)
{
	uint64_t interval = s->s.probe->tick_ns, due = s->due_ns, passed = src->passed_ns;

	if (passed > due && passed - due >= interval) {
		s->late += (passed - due) / interval;
		due += (passed - due) / interval * interval;
	}
	s->due_ns = due > UINT64_MAX - 1 - interval ? UINT64_MAX - 1 : due + interval;
}

static int fire_due(struct tally_trace *t, struct hv_source *src, uint64_t to)
{
	uint64_t ns = hv_now(src->base.transport);
	int rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < src->nsamples && !t->over; i++) {
		struct hv_sample *s = src->sample[i];
		struct err e = { 0 };

		if (s->due_ns > to)
			continue;
		rc = s->s.probe->prov->fire(&s->s, ns, &e);
		if (rc < 0)
			rc = sample_failed(t, &s->s, rc, &e);
		sample_set_due(src, s);
	}
	return rc;
}

static int hv_turn(struct tally_trace *t, int timeout_ms)
{
	struct hv_source *src = source_of(t);
	uint64_t due = next_due(src), tick = t->eng->ops->next(t->eng), to = due < tick ? due : tick;
	bool reached;
	int rc;

	if (to == UINT64_MAX)
		return -TALLY_EEND;
	reached = source_reach(src, to, timeout_ms);
	rc = hv_is_there(src->p, src->base.transport); /* else its time stands still, and nothing is ever due */
	if (rc < 0)
		return trace_fail(t, (enum tally_err) - rc, "%s", tally_platform_error(src->p));
	if (!reached)
		return 0;
	(void)t->eng->ops->advance(t->eng, to);
	return due == to ? fire_due(t, src, to) : 0;
}

static void hv_report(struct tally_trace *t)
{
	struct hv_source *src = source_of(t);

	for (uint32_t i = 0; i < src->nsamples; i++)
		if (src->sample[i]->late)
			trace_note(t, "%llu firings of %s skipped: reading takes longer than that",
				   (unsigned long long)src->sample[i]->late, src->sample[i]->s.probe->name);
	if (src->reader.busy)
		trace_note(t, "%llu readings of registers left out: they stayed busy",
			   (unsigned long long)src->reader.busy);
}

/* ---- the source --------------------------------------------------------------------------------------------- */

/* A model by its name, keys behind it, or a socket. */
static bool hv_takes(const char *platform)
{
	size_t n = strcspn(platform, ",");
	const struct plat_row *r;

	if (!strncmp(platform, "unix:", 5))
		return true;
	for (uint32_t i = 0; (r = plat_row(i)) != NULL; i++)
		if (r->is == PLAT_MODEL && strlen(r->name) == n && !memcmp(r->name, platform, n))
			return true;
	return false;
}

static void hv_close(struct records *base)
{
	struct hv_source *src = (struct hv_source *)base;

	drop_samples(src);
	tally_platform_close(src->p);
	mem_free(src);
}

static int open_platform(struct hv_source *src, const struct tally_trace *t, const char *platform, struct err *e)
{
	struct tally_platform_opts o = {
		.size = sizeof(o), .on = platform, .note = t->o.note, .arg = t->o.arg, .stop = t->o.stop
	};
	int rc = tally_platform_open(&src->p, &o);

	if (rc >= 0)
		rc = hv_transport_of(src->p, &src->base.transport);
	if (rc >= 0 && src->base.transport->op->sun4v)
		rc = hv_client_of(src->p, "vfalls", &src->base.sun4v);
	return rc >= 0 ? 0 :
			 err_set(e, (enum tally_err) - rc, "%s",
				 src->p ? tally_platform_error(src->p) : tally_strerror(rc));
}

static int hv_open(struct records **ret, const struct tally_trace *t, const char *platform, struct err *e)
{
	struct hv_source *src = mem_alloc(sizeof(*src));
	int rc;

	if (!src)
		return err_oom(e);
	src->base.ops = &hv_records;
	rc = open_platform(src, t, platform, e);
	if (rc < 0)
		hv_close(&src->base);
	else
		*ret = &src->base;
	return rc;
}

const struct records_ops hv_records = {
	.takes = hv_takes,
	.open = hv_open,
	.close = hv_close,
	.start = hv_start,
	.turn = hv_turn,
	.report = hv_report,
};
