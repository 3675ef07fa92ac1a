/*
 * compare_share.c: the common wait of the requesters of one device.
 *
 * Requesters on one link wait in one queue, so in a block of time in which the queue is long all of them wait longer.
 * This common wait causes most of the variation of one requester's latency. It is estimated from the other
 * requesters: by how much their latencies in that block differ from their own means. It is subtracted as far as the
 * requester follows it within both traces. What is left is the requester's own latency, and a change of that is found
 * with a fraction of the packets. A requester that changed by itself is no measure for others and is left out; if
 * more than a third did, nothing is subtracted.
 *
 * The same blocks tell whether requesters share a queue: the others wait longer in blocks in which the device, or one
 * requester, carries more. If all have a fixed number of open requests, they send fewer while they wait, so the load
 * does not show it. Then two conditions must hold: they wait together, and the others' waits have changed as sharing
 * predicts.
 */
#include <math.h>

#include "ptt/compare_int.h"

enum { OTHERS_LEAST = 3, OTHERS_ANSWERED = 200 };
#define TOGETHER 3.0    /* deviations of what goes together: chance goes as far once in 700 times */
#define ON_ITS_OWN 1e-4 /* chance of a change, below which a requester is no measure for others */
#define CONTRADICTS 0.01

struct series {
	double v[PTT_TRACK_BLOCKS];
};
/* What the others of a device waited longer than is usual for them, and how many requests that is of. */
struct common {
	struct series more, n;
};

static double block_answered(const struct ptt_requester_row *q, uint32_t i)
{
	return (double)q->track.block[i].figure[PTT_SERIES_ANSWERED];
}

static double block_latency(const struct ptt_requester_row *q, uint32_t i)
{
	return (double)q->track.block[i].figure[PTT_SERIES_LATENCY];
}

static double block_total(const struct ptt_requester_row *q,
			  double figure(const struct ptt_requester_row *q, uint32_t i))
{
	double sum = 0;

	for (uint32_t i = 0; i < q->track.n; i++)
		sum += figure(q, i);
	return sum;
}

/* Its mean latency over both traces. */
static double usual_latency(const struct compare_pair *p)
{
	double n = block_total(p->a, block_answered) + block_total(p->b, block_answered);

	return n > 0 ? (block_total(p->a, block_latency) + block_total(p->b, block_latency)) / n : 0;
}

static void common_add(struct common *c, const struct ptt_requester_row *q, double usual, double sign)
{
	for (uint32_t i = 0; i < q->track.n; i++) {
		c->more.v[i] += sign * (block_latency(q, i) - block_answered(q, i) * usual);
		c->n.v[i] += sign * block_answered(q, i);
	}
}

static double common_of(const struct common *c, uint32_t i)
{
	return c->n.v[i] > 0 ? c->more.v[i] / c->n.v[i] : 0;
}

/* ---- what is a requester's own ---------------------------------------------------------------------------- */

/* How far q goes along with the others within one trace, as sums of a regression; returns how surely. */
static double goes_along(const struct ptt_requester_row *q, const struct common *c, double *xy, double *xx)
{
	double x[PTT_TRACK_BLOCKS], y[PTT_TRACK_BLOCKS], n = block_total(q, block_answered), mean_x = 0, mean_y = 0;

	for (uint32_t i = 0; i < q->track.n; i++) {
		double here = block_answered(q, i);
		x[i] = common_of(c, i);
		y[i] = here > 0 ? block_latency(q, i) / here : block_total(q, block_latency) / n;
		mean_x += here * x[i] / n;
		mean_y += here * y[i] / n;
	}
	for (uint32_t i = 0; i < q->track.n; i++) {
		*xy += block_answered(q, i) * (x[i] - mean_x) * (y[i] - mean_y);
		*xx += block_answered(q, i) * (x[i] - mean_x) * (x[i] - mean_x);
	}
	return compare_together(x, y, q->track.n);
}

static struct sample without_common(const struct ptt_requester_row *q, const struct common *c, double slope)
{
	double num[PTT_TRACK_BLOCKS] = { 0 }, den[PTT_TRACK_BLOCKS] = { 0 };

	for (uint32_t i = 0; i < q->track.n; i++) {
		den[i] = block_answered(q, i);
		num[i] = block_latency(q, i) - slope * den[i] * common_of(c, i);
	}
	return compare_ratio(num, den, q->track.n, 1);
}

/* all: of all that are a measure, p among them or not. */
static void pair_set_own(struct compare_pair *p, const struct common all[2])
{
	struct common others[2] = { all[0], all[1] };
	double xy = 0, xx = 0;

	if (!p->changed) {
		common_add(&others[0], p->a, p->usual, -1);
		common_add(&others[1], p->b, p->usual, -1);
	}
	double sure = goes_along(p->a, &others[0], &xy, &xx) + goes_along(p->b, &others[1], &xy, &xx);
	p->own = sure > TOGETHER * sqrt(2) && xx > 0;
	if (!p->own)
		return;
	p->own_a = without_common(p->a, &others[0], xy / xx);
	p->own_b = without_common(p->b, &others[1], xy / xx);
}

static bool pair_is_of(const struct compare_pair *p, uint32_t device)
{
	return p->measure && p->a->device == device;
}

/* Sets own figures of a device's pairs. Returns the one that changed most surely and still is a measure for others, or
 * NULL. */
static struct compare_pair *device_set_own(struct compare_pair *v, uint32_t n, uint32_t device)
{
	struct compare_pair *most = NULL;
	struct common all[2] = { 0 };
	double least = ON_ITS_OWN;

	for (uint32_t i = 0; i < n; i++)
		if (pair_is_of(&v[i], device) && !v[i].changed) {
			common_add(&all[0], v[i].a, v[i].usual, 1);
			common_add(&all[1], v[i].b, v[i].usual, 1);
		}
	for (uint32_t i = 0; i < n; i++) {
		if (!pair_is_of(&v[i], device))
			continue;
		pair_set_own(&v[i], all);
		double chance = v[i].own && !v[i].changed ? compare_growth(&v[i].own_a, &v[i].own_b).chance : 1;
		if (chance < least) {
			least = chance;
			most = &v[i];
		}
	}
	return most;
}

void compare_own(struct compare_pair *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		v[i].measure = !v[i].a->others && block_total(v[i].a, block_answered) >= OTHERS_ANSWERED &&
			       block_total(v[i].b, block_answered) >= OTHERS_ANSWERED;
		v[i].usual = v[i].measure ? usual_latency(&v[i]) : 0;
	}
	for (uint32_t device = 0; device < PTT_STATS_DEVICES; device++) {
		uint32_t measures = 0, changed = 0;
		struct compare_pair *most;

		for (uint32_t i = 0; i < n; i++)
			measures += pair_is_of(&v[i], device);
		while (measures > OTHERS_LEAST && 3 * changed <= measures && (most = device_set_own(v, n, device))) {
			most->changed = true;
			changed++;
		}
		for (uint32_t i = 0; i < n && 3 * changed > measures; i++)
			if (pair_is_of(&v[i], device))
				v[i].own = false;
	}
}

/* ---- who shares ----------------------------------------------------------------------------------------------- */

/* Latencies of the others of its device against what the device, or the requester itself, carries, in the blocks of one
 * trace. */
static void latency_with_load(const struct ptt_report *r, const struct ptt_requester_row *cause, double *with_all,
			      double *with_one)
{
	double sum[PTT_TRACK_BLOCKS] = { 0 }, n[PTT_TRACK_BLOCKS] = { 0 }, all[PTT_TRACK_BLOCKS] = { 0 },
	       one[PTT_TRACK_BLOCKS] = { 0 };
	const struct ptt_track *k = &cause->track;

	for (uint32_t q = 0; q < r->nrequesters; q++) {
		const struct ptt_requester_row *row = &r->requester[q];
		for (uint32_t i = 0; row->device == cause->device && i < row->track.n && i < k->n; i++) {
			const uint64_t *f = row->track.block[i].figure;
			all[i] += (double)(f[PTT_SERIES_WRITTEN] + f[PTT_SERIES_READ]);
			sum[i] += row == cause ? 0 : (double)f[PTT_SERIES_LATENCY];
			n[i] += row == cause ? 0 : (double)f[PTT_SERIES_ANSWERED];
		}
	}
	for (uint32_t i = 0; i < k->n; i++) {
		double ticks = k->ticks[i] ? (double)k->ticks[i] : 1;
		sum[i] /= n[i] > 0 ? n[i] : 1;
		all[i] /= ticks;
		one[i] = (double)(k->block[i].figure[PTT_SERIES_WRITTEN] + k->block[i].figure[PTT_SERIES_READ]) / ticks;
	}
	*with_all += compare_together(sum, all, k->n);
	*with_one += compare_together(sum, one, k->n);
}

/* The latency of all others of its device. */
static struct sample latency_of_others(const struct ptt_report *r, const struct ptt_requester_row *cause)
{
	double num[PTT_TRACK_BLOCKS] = { 0 }, den[PTT_TRACK_BLOCKS] = { 0 };

	for (uint32_t q = 0; q < r->nrequesters; q++) {
		const struct ptt_requester_row *row = &r->requester[q];
		for (uint32_t i = 0; row != cause && row->device == cause->device && i < row->track.n; i++) {
			num[i] += block_latency(row, i);
			den[i] += block_answered(row, i);
		}
	}
	return compare_ratio(num, den, cause->track.n, 1);
}

bool compare_share(const struct ptt_report *ra, const struct ptt_report *rb, const struct ptt_requester_row *a,
		   const struct ptt_requester_row *b, bool more, bool along)
{
	double with_all = 0, with_one = 0;
	struct sample x = latency_of_others(ra, a), y = latency_of_others(rb, b);
	struct growth g = compare_growth(&x, &y);

	latency_with_load(ra, a, &with_all, &with_one);
	latency_with_load(rb, b, &with_all, &with_one);
	bool sure = g.df > 0 && g.chance < CONTRADICTS, fits = (g.log > 0) == more;
	if (with_all > TOGETHER * sqrt(2) || with_one > TOGETHER * sqrt(2))
		return !sure || fits;
	return along && sure && fits;
}
