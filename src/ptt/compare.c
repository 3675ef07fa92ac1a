/*
 * compare.c: what changed between two traces.
 *
 * Two traces are hardly ever of one length, so what grows with length is
 * compared per thousand ticks, and what is a part of something as a share.
 * Order is by how many times larger or smaller a figure became, so that half
 * as much weighs as twice as much; rows of tables are only worth a line when
 * there were a few packets of them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ptt/stats.h"

#define FEW 16                                /* packets of a row in both traces together */

struct changes {
	struct ptt_change *v;
	uint32_t n, cap;
	bool failed;
	const struct ptt_report *a, *b;
};

static void change(struct changes *c, const char *unit, double a, double b, const char *fmt, ...) PRINTF_LIKE(5, 6);
static void change(struct changes *c, const char *unit, double a, double b, const char *fmt, ...)
{
	struct ptt_change *x = a == b ? NULL : VEC_NEW(c->v, c->n, c->cap);
	va_list ap;

	c->failed |= a != b && x == NULL;
	if (x == NULL)
		return;
	va_start(ap, fmt);
	vsnprintf(x->what, sizeof(x->what), fmt, ap);
	va_end(ap);
	x->unit = unit;
	x->a = a;
	x->b = b;
	x->change = a != 0 ? b / a - 1 : (double)INFINITY;
}

/* Per thousand of something; 0 of nothing. */
static double share(uint64_t part, uint64_t of)
{
	return of ? (double)part * 1000 / (double)of : 0;
}

#define RATE(c, figure, ...) \
	change(c, "per 1000 ticks", share((c)->a->figure, (c)->a->span), share((c)->b->figure, (c)->b->span), __VA_ARGS__)
#define SHARE(c, part, of, ...) \
	change(c, "per 1000", share((c)->a->part, (c)->a->of), share((c)->b->part, (c)->b->of), __VA_ARGS__)
#define FIGURE(c, unit, figure, ...) \
	change(c, unit, (double)(c)->a->figure, (double)(c)->b->figure, __VA_ARGS__)

static void compare_whole(struct changes *c)
{
	RATE(c, records, "packets");
	RATE(c, traffic.useful_bytes, "payload");
	FIGURE(c, "per 1000", efficiency, "link efficiency");
	SHARE(c, write_enabled, write_bytes, "enabled bytes of writes");
	SHARE(c, read_enabled, read_bytes, "enabled bytes of reads");
	SHARE(c, relaxed, records, "relaxed ordering");
	FIGURE(c, "bytes", split.mps, "largest payload");
	FIGURE(c, "bytes", split.mrrs, "largest read request");
	FIGURE(c, "bytes", split.rcb, "read completion boundary");
	RATE(c, messages, "messages");
}

static void compare_faults(struct changes *c)
{
	for (int f = 0; f < PTT_FAULTS; f++)
		SHARE(c, fault_count[f], records, "%s", ptt_fault_name((enum ptt_fault)f));
}

static void compare_latency(struct changes *c, const struct ptt_hist *a, const struct ptt_hist *b, const char *of)
{
	static const struct { uint32_t per_mille; const char *name; } at[] = { { 500, "p50" }, { 990, "p99" } };

	if (a == NULL || b == NULL || a->n == 0 || b->n == 0)
		return;
	for (unsigned i = 0; i < COUNT(at); i++)
		change(c, "ticks", (double)ptt_hist_at(a, at[i].per_mille), (double)ptt_hist_at(b, at[i].per_mille),
		       "%s %s", of, at[i].name);
	change(c, "ticks", (double)a->most, (double)b->most, "%s max", of);
}

static void compare_matched(struct changes *c)
{
	if (!c->a->matched || !c->b->matched)
		return;
	compare_latency(c, c->a->latency, c->b->latency, "latency");
	compare_latency(c, c->a->latency_first, c->b->latency_first, "latency to first completion");
	change(c, "per 1000 ticks", share(c->a->outstanding_ticks, c->a->outstanding_span),
	       share(c->b->outstanding_ticks, c->b->outstanding_span), "outstanding requests x 1000, mean");
	FIGURE(c, "requests", outstanding_peak, "outstanding requests, peak");
}

static uint64_t tlps_of(const struct ptt_report *r, unsigned type_index)
{
	for (uint32_t i = 0; i < r->ntypes; i++)
		if (r->type[i].type_index == type_index)
			return r->type[i].tlps;
	return 0;
}

static void compare_types(struct changes *c)
{
	const struct tlp_type *y;

	for (unsigned i = 0; (y = tlp_type_at(i)) != NULL; i++) {
		uint64_t a = tlps_of(c->a, i), b = tlps_of(c->b, i);
		if (a + b >= FEW)
			change(c, "per 1000 ticks", share(a, c->a->span), share(b, c->b->span), "%s", y->name);
	}
}

static const struct ptt_requester_row *requester_of(const struct ptt_report *r, const struct ptt_requester_row *like)
{
	for (uint32_t i = 0; i < r->nrequesters; i++) {
		const struct ptt_requester_row *q = &r->requester[i];
		if (q->others == like->others && q->device == like->device && q->segment == like->segment &&
		    q->requester == like->requester)
			return q;
	}
	return NULL;
}

/* Of the device whose clock it is. */
static uint64_t span_of(const struct ptt_report *r, const struct ptt_requester_row *q)
{
	for (uint32_t i = 0; i < r->ndevices && !q->others; i++)
		if (r->device[i].device == q->device)
			return r->device[i].span;
	return r->span;
}

static void name_requester(char name[static 40], const struct ptt_requester_row *q)
{
	int n = q->device ? snprintf(name, 40, "%u/", q->device) : 0;

	if (q->segment)
		n += snprintf(name + n, 40 - (size_t)n, "%04x:", q->segment);
	if (q->others)
		snprintf(name, 40, "others");
	else
		snprintf(name + n, 40 - (size_t)n, "%02x:%02x.%u", q->requester >> 8, q->requester >> 3 & 0x1f,
			 q->requester & 7u);
}

static void compare_requester(struct changes *c, const struct ptt_requester_row *a, const struct ptt_requester_row *b)
{
	static const struct ptt_requester_row none = { 0 };
	char name[40];

	uint64_t span_a = span_of(c->a, a ? a : b), span_b = span_of(c->b, a ? a : b);

	name_requester(name, a ? a : b);
	a = a ? a : &none;
	b = b ? b : &none;
	if (a->tlps + b->tlps < FEW)
		return;
	change(c, "per 1000 ticks", share(a->written_bytes, span_a), share(b->written_bytes, span_b),
	       "%s bytes written", name);
	change(c, "per 1000 ticks", share(a->read_bytes, span_a), share(b->read_bytes, span_b),
	       "%s bytes read", name);
	char of[64];
	snprintf(of, sizeof(of), "%s latency", name);
	compare_latency(c, a->latency, b->latency, of);
}

static void compare_requesters(struct changes *c)
{
	for (uint32_t i = 0; i < c->a->nrequesters; i++)
		compare_requester(c, &c->a->requester[i], requester_of(c->b, &c->a->requester[i]));
	for (uint32_t i = 0; i < c->b->nrequesters; i++)
		if (requester_of(c->a, &c->b->requester[i]) == NULL)
			compare_requester(c, NULL, &c->b->requester[i]);
}

static double larger(const struct ptt_change *x)
{
	return x->a > x->b ? x->a : x->b;
}

/* How many times larger the larger figure is. */
static double factor(const struct ptt_change *x)
{
	double smaller = x->a > x->b ? x->b : x->a;
	return smaller > 0 ? larger(x) / smaller : (double)INFINITY;
}

/* Of what is new or gone, the largest. */
static int largest_first(const void *p, const void *q)
{
	const struct ptt_change *x = p, *y = q;
	double of_x = factor(x), of_y = factor(y);

	if (of_x != of_y)
		return of_x < of_y ? 1 : -1;
	return (larger(x) < larger(y)) - (larger(x) > larger(y));
}

int ptt_compare(struct ptt_change **ret, const struct ptt_report *a, const struct ptt_report *b)
{
	struct changes c = { .a = a, .b = b };

	compare_whole(&c);
	compare_faults(&c);
	compare_matched(&c);
	compare_types(&c);
	compare_requesters(&c);
	if (c.failed) {
		mem_free(c.v);
		return -TALLY_ENOMEM;
	}
	if (c.n > 1)
		qsort(c.v, c.n, sizeof(*c.v), largest_first);
	*ret = c.v;
	return (int)c.n;
}
