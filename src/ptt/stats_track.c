/*
 * stats_track.c: the figures of a trace in blocks of time, for comparisons.
 *
 * The variation of a figure within the trace gives its error. Latencies that follow each other are not independent (a
 * queue is long for a while), so figures are kept for blocks that are long compared with that. A block is a number of
 * records of a device, and a block of the whole a number of records of all. When there are twice as many blocks as a
 * report needs, neighbours are merged. So there are always between 32 and 64 blocks, and memory is bounded.
 *
 * Nothing is counted for blocks: when a block ends, its figures are the growth of all counters. So counting a record
 * costs the same with and without. Percentiles can't be subtracted, so at the end of a block they are read from the
 * growth of its histogram; when two blocks are merged, their percentiles are averaged, weighted by the requests. That
 * is right if all blocks are alike. If a few blocks hold all slow requests, their number in each block matters: for
 * that each block keeps a coarse histogram.
 *
 * Shards see the same records, so their blocks end at the same ones, and merging is adding.
 */
#include "ptt/stats_int.h"

enum { FIRST_STEP = 512 }; /* records; a chunk is counted in as many at a time */

/* Of a device, or of the whole. */
struct stream {
	uint64_t seen, next, step; /* records; blocks end at `next` */
	uint64_t now;              /* ticks at the end of the last block */
	uint64_t *ticks;           /* of each block: PTT_TRACK_BLOCKS */
	uint32_t n;
};
/* What was there when the last block ended. */
struct mark {
	uint64_t figure[PTT_SERIES];
	struct ptt_hist latency;
};
struct row {
	struct ptt_block *block;
	struct mark *mark;
	uint32_t (*coarse)[PTT_COARSE];
};
struct stats_track {
	struct stream device[PTT_STATS_DEVICES], whole;
	struct row row[PTT_STATS_ROWS + 1], first;
	struct ptt_hist all;                  /* latencies of all, as they are now */
	struct ptt_whole_block *block, *mark; /* mark: one, of sums since the start */
	struct row total;
};

/* ---- what a histogram says in a few figures ------------------------------------------------------ */

/* How much of [below, below + n) lies in [from, to). */
static double track_overlap(double below, double n, double from, double to)
{
	double begin = below > from ? below : from, end = below + n < to ? below + n : to;

	return end > begin ? end - begin : 0;
}

double ptt_hist_quantile(const struct ptt_hist *h, double share)
{
	double rank = (share > 0 ? share : 0) * (double)h->n, below = 0;

	for (uint32_t i = hist_bucket(h->least); h->n && i <= hist_bucket(h->most); i++) {
		double here = (double)h->bucket[i], width = (double)(ptt_hist_most(i) - ptt_hist_least(i)) + 1;

		if (rank < below + here)
			return (double)ptt_hist_least(i) + width * (rank - below) / here - 0.5;
		below += here;
	}
	return (double)h->most;
}

static uint32_t coarse_bucket(uint64_t v)
{
	uint32_t shift = 63 - PTT_COARSE_BITS - (uint32_t)__builtin_clzll(v | 1u << PTT_COARSE_BITS);
	return (shift << PTT_COARSE_BITS) + (uint32_t)(v >> shift);
}

uint64_t ptt_coarse_least(uint32_t bucket)
{
	uint32_t shift = bucket >> PTT_COARSE_BITS ? (bucket >> PTT_COARSE_BITS) - 1 : 0;

	return (uint64_t)(bucket - (shift << PTT_COARSE_BITS)) << shift;
}

void ptt_hist_places(const struct ptt_hist *h, const struct ptt_hist *since, double at[static PTT_PLACES])
{
	static const double share[PTT_PLACES] = {
		[PTT_AT_P10] = 0.1, [PTT_AT_P50] = 0.5, [PTT_AT_P90] = 0.9, [PTT_AT_P99] = 0.99
	};
	double n = (double)(h->n - (since ? since->n : 0)), below = 0, tails = 0;

	memset(at, 0, PTT_PLACES * sizeof(*at));
	if (n == 0)
		return;
	for (uint32_t i = hist_bucket(h->least); i <= hist_bucket(h->most); i++) {
		double here = (double)(h->bucket[i] - (since ? since->bucket[i] : 0));
		double least = (double)ptt_hist_least(i), width = (double)(ptt_hist_most(i) - ptt_hist_least(i)) + 1;

		if (here == 0)
			continue;
		tails += (here - track_overlap(below, here, 0.05 * n, 0.95 * n)) * (least + (width - 1) / 2);
		for (unsigned k = PTT_AT_P10; k < PTT_PLACES; k++)
			if (share[k] * n >= below && share[k] * n < below + here)
				at[k] = least + width * (share[k] * n - below) / here - 0.5;
		below += here;
	}
	at[PTT_AT_MIDDLE] = ((double)(h->sum - (since ? since->sum : 0)) - tails) / (0.9 * n);
}

/* ---- blocks ----------------------------------------------------------------------------------------- */

static void block_join(struct ptt_block *into, const struct ptt_block *from)
{
	double a = (double)into->figure[PTT_SERIES_ANSWERED], b = (double)from->figure[PTT_SERIES_ANSWERED];

	for (unsigned k = 0; k < PTT_PLACES && a + b > 0; k++)
		into->at[k] = (into->at[k] * a + from->at[k] * b) / (a + b);
	for (unsigned k = 0; k < PTT_SERIES; k++)
		into->figure[k] += from->figure[k];
}

static void coarse_add(uint32_t into[static PTT_COARSE], const uint32_t from[static PTT_COARSE])
{
	for (uint32_t k = 0; k < PTT_COARSE; k++)
		into[k] += from[k];
}

static void coarse_halve(struct row *r)
{
	for (uint32_t i = 0; i < PTT_TRACK_BLOCKS; i += 2) {
		coarse_add(r->coarse[i], r->coarse[i + 1]);
		if (i > 0)
			memcpy(r->coarse[i / 2], r->coarse[i], sizeof(r->coarse[i]));
	}
	memset(r->coarse[PTT_TRACK_BLOCKS / 2], 0, PTT_TRACK_BLOCKS / 2 * sizeof(*r->coarse));
}

static void row_halve(struct row *r)
{
	if (r->coarse)
		coarse_halve(r);
	for (uint32_t i = 0; r->block && i < PTT_TRACK_BLOCKS; i += 2) {
		struct ptt_block two = r->block[i];
		block_join(&two, &r->block[i + 1]);
		r->block[i / 2] = two;
	}
	if (r->block)
		memset(&r->block[PTT_TRACK_BLOCKS / 2], 0, PTT_TRACK_BLOCKS / 2 * sizeof(*r->block));
}

/* All of it is numbers of 64 bits, and they are sums. */
static void whole_add(struct ptt_whole_block *into, const struct ptt_whole_block *from, bool less)
{
	uint64_t *to = (uint64_t *)into;
	const uint64_t *f = (const uint64_t *)from;

	static_assert(sizeof(*into) % sizeof(uint64_t) == 0, "numbers only");
	for (size_t i = 0; i < sizeof(*into) / sizeof(uint64_t); i++)
		to[i] += less ? -f[i] : f[i];
}

static void whole_halve(struct stats_track *k)
{
	for (uint32_t i = 0; i < PTT_TRACK_BLOCKS; i += 2) {
		struct ptt_whole_block two = k->block[i];
		whole_add(&two, &k->block[i + 1], false);
		k->block[i / 2] = two;
	}
	memset(&k->block[PTT_TRACK_BLOCKS / 2], 0, PTT_TRACK_BLOCKS / 2 * sizeof(*k->block));
}

static void unheard_halve(struct stats_unheard *q)
{
	for (uint32_t i = 0; i < PTT_TRACK_BLOCKS; i += 2)
		for (unsigned f = 0; f < COUNT(q->fault[i]); f++)
			q->fault[i / 2][f] = q->fault[i][f] + q->fault[i + 1][f];
	memset(&q->fault[PTT_TRACK_BLOCKS / 2], 0, PTT_TRACK_BLOCKS / 2 * sizeof(*q->fault));
}

static void stream_halve(struct stream *m)
{
	for (uint32_t i = 0; i < PTT_TRACK_BLOCKS; i += 2)
		m->ticks[i / 2] = m->ticks[i] + m->ticks[i + 1];
	memset(&m->ticks[PTT_TRACK_BLOCKS / 2], 0, PTT_TRACK_BLOCKS / 2 * sizeof(*m->ticks));
	m->n /= 2;
	m->step *= 2;
}

/* Its blocks and its mark, from when they are needed. */
static bool row_open(struct ptt_stats *s, struct row *r)
{
	bool coarse = r < &s->track->row[PTT_COARSE_ROWS] || r > &s->track->row[PTT_STATS_ROWS];

	if (coarse && r->coarse == NULL && (r->coarse = mem_alloc(PTT_TRACK_BLOCKS * sizeof(*r->coarse))) == NULL)
		s->failed = true;
	if (r->block == NULL)
		r->block = mem_alloc(PTT_TRACK_BLOCKS * sizeof(*r->block));
	if (r->mark == NULL)
		r->mark = mem_alloc(sizeof(*r->mark));
	s->failed |= r->block == NULL || r->mark == NULL;
	return !s->failed;
}

/* What r grew by since its mark is added to its block i. */
static void row_take(struct row *r, uint32_t i, const uint64_t figure[static PTT_SERIES],
		     const struct ptt_hist *latency)
{
	struct ptt_block now = { 0 };

	for (unsigned k = 0; k < PTT_SERIES; k++) {
		now.figure[k] = figure[k] - r->mark->figure[k];
		r->mark->figure[k] = figure[k];
	}
	if (latency != NULL && latency->n != r->mark->latency.n) {
		struct ptt_hist *since = &r->mark->latency;
		uint32_t from = hist_bucket(latency->least), to = hist_bucket(latency->most);

		now.figure[PTT_SERIES_ANSWERED] = latency->n - since->n;
		now.figure[PTT_SERIES_LATENCY] = latency->sum - since->sum;
		ptt_hist_places(latency, since, now.at);
		for (uint32_t b = from; r->coarse && b <= to; b++)
			r->coarse[i][coarse_bucket(ptt_hist_least(b))] +=
				(uint32_t)(latency->bucket[b] - since->bucket[b]);
		memcpy(&since->bucket[from], &latency->bucket[from], (to - from + 1) * sizeof(*since->bucket));
		since->n = latency->n;
		since->sum = latency->sum;
	}
	block_join(&r->block[i], &now);
}

/* Whose clock it has; of more devices than there is room for, the last one's. */
static uint32_t row_device(const struct ptt_stats *s, uint32_t row)
{
	uint64_t device = s->requesters.of_row[row] >> 32;

	return device < PTT_STATS_DEVICES ? (uint32_t)device : PTT_STATS_DEVICES - 1;
}

static void requester_take(struct ptt_stats *s, uint32_t row, uint32_t i)
{
	const struct stats_requester *r = &s->requester[row];
	struct row *to = &s->track->row[row];
	const uint64_t figure[PTT_SERIES] = {
		[PTT_SERIES_REQUESTS] = r->kind[PTT_READ] + r->kind[PTT_WRITE] + r->kind[PTT_ATOMIC],
		[PTT_SERIES_WRITTEN] = r->bytes[PTT_WRITE],
		[PTT_SERIES_READ] = r->bytes[PTT_COMPLETION],
	};

	if (row_open(s, to))
		row_take(to, i, figure, r->latency);
}

static void device_take(struct ptt_stats *s, uint32_t device)
{
	struct stream *m = &s->track->device[device];

	for (uint32_t row = 0; row < s->requesters.n; row++)
		if (row_device(s, row) == device)
			requester_take(s, row, m->n);
	m->ticks[m->n] += s->device[device].clock.now - m->now;
	m->now = s->device[device].clock.now;
}

static void sum_now(const struct ptt_stats *s, struct ptt_whole_block *now)
{
	for (uint32_t i = 0; i < PTT_STATS_DEVICES; i++)
		now->ticks += s->device[i].clock.now;
	now->extra_bytes = s->extra_bytes;
	for (unsigned f = 0; f < PTT_FAULTS; f++)
		now->fault[f] = s->fault_count[f];
	for (uint32_t i = 0; i < PTT_TYPES; i++) {
		now->type[i].tlps = s->type[i].tlps;
		now->type[i].dws = s->type[i].dws;
		now->type[i].bytes = s->type[i].bytes;
		now->type[i].relaxed = s->type[i].relaxed;
	}
}

static void whole_take(struct ptt_stats *s)
{
	static const uint64_t none[PTT_SERIES];
	struct stats_track *k = s->track;
	struct ptt_whole_block now = { 0 }, last = *k->mark;

	sum_now(s, &now);
	*k->mark = now;
	whole_add(&now, &last, true);
	whole_add(&k->block[k->whole.n], &now, false);
	if (!row_open(s, &k->first) || !row_open(s, &k->total))
		return;
	row_take(&k->first, k->whole.n, none, &s->latency_first);
	memset(&k->all, 0, sizeof(k->all));
	for (uint32_t i = 0; i <= PTT_STATS_ROWS; i++)
		if (s->requester[i].latency != NULL)
			ptt_hist_merge(&k->all, s->requester[i].latency);
	row_take(&k->total, k->whole.n, none, &k->all);
}

/* Its block is over: the next one begins. */
static void stream_next(struct stream *m)
{
	m->n++;
	m->next = m->seen + m->step;
}

void track_records(struct ptt_stats *s, struct stats_device *d, uint64_t n)
{
	struct stats_track *k = s->track;
	uint32_t device = (uint32_t)(d - s->device);
	struct stream *m = &k->device[device];

	m->seen += n;
	k->whole.seen += n;
	if (m->seen < m->next && k->whole.seen < k->whole.next)
		return;
	cells_settle(s);
	if (m->ticks == NULL && (m->ticks = mem_alloc(PTT_TRACK_BLOCKS * sizeof(*m->ticks))) == NULL)
		s->failed = true;
	if (s->failed)
		return;
	if (m->seen >= m->next) {
		device_take(s, device);
		stream_next(m);
		for (uint32_t i = 0; m->n == PTT_TRACK_BLOCKS && i < s->requesters.n; i++)
			if (row_device(s, i) == device)
				row_halve(&k->row[i]);
		if (m->n == PTT_TRACK_BLOCKS)
			stream_halve(m);
	}
	if (k->whole.seen >= k->whole.next) {
		whole_take(s);
		stream_next(&k->whole);
		if (k->whole.n < PTT_TRACK_BLOCKS)
			return;
		whole_halve(k);
		for (struct stats_unheard *q = s->line.unheard; q != NULL; q = q->next)
			unheard_halve(q);
		row_halve(&k->first);
		row_halve(&k->total);
		k->whole.n /= 2;
		k->whole.step *= 2;
	}
}

/* The block that was under way is one of its own when it is half as long as the others, and else a part of the last. */
static void stream_end(struct stream *m)
{
	bool own = m->n == 0 || m->next - m->seen <= m->step / 2;

	m->n -= !own;
}

void track_settle(struct ptt_stats *s)
{
	struct stats_track *k = s->track;

	for (uint32_t i = 0; i < PTT_STATS_DEVICES && !s->failed; i++) {
		struct stream *m = &k->device[i];
		if (m->seen == 0)
			continue;
		if (m->ticks == NULL && (m->ticks = mem_alloc(PTT_TRACK_BLOCKS * sizeof(*m->ticks))) == NULL) {
			s->failed = true;
			return;
		}
		stream_end(m);
		device_take(s, i);
		m->n++;
	}
	stream_end(&k->whole);
	if (!s->failed)
		whole_take(s);
	k->whole.n++;
}

/* ---- faults that may be none ----------------------------------------------------------------------- */

void track_fault(struct ptt_stats *s, struct stats_requester *r, enum ptt_fault f)
{
	if (s->track != NULL && r->unheard != NULL)
		r->unheard->fault[s->track->whole.n][f]++;
}

/* Those of the end are in the block that was under way then, which may have become a part of the last. */
void track_forget_faults(struct ptt_stats *s, const struct stats_unheard *q)
{
	struct stats_track *k = s->track;

	for (uint32_t i = 0; k != NULL && i < PTT_TRACK_BLOCKS; i++)
		for (unsigned f = 0; f < COUNT(q->fault[i]); f++)
			k->block[i < k->whole.n ? i : k->whole.n - 1].fault[f] -= q->fault[i][f];
}

/* ---- merging --------------------------------------------------------------------------------------- */

static void row_merge(struct ptt_stats *s, struct row *into, const struct row *from)
{
	if (from->block != NULL && row_open(s, into))
		for (uint32_t i = 0; i < PTT_TRACK_BLOCKS; i++) {
			block_join(&into->block[i], &from->block[i]);
			if (into->coarse && from->coarse)
				coarse_add(into->coarse[i], from->coarse[i]);
		}
}

void track_merge(struct ptt_stats *into, const struct ptt_stats *from)
{
	struct stats_track *k = into->track, *f = from->track;

	for (uint32_t i = 0; i < from->requesters.n; i++)
		row_merge(into, &k->row[row_of(&into->requesters, from->requesters.of_row[i])], &f->row[i]);
	row_merge(into, &k->first, &f->first);
	row_merge(into, &k->total, &f->total);
	for (uint32_t i = 0; i < PTT_TRACK_BLOCKS; i++) {
		uint64_t ticks = k->block[i].ticks;
		whole_add(&k->block[i], &f->block[i], false);
		k->block[i].ticks = ticks; /* both saw all of it pass */
	}
}

/* ---- opening, and what a report has ------------------------------------------------------------------- */

int track_open(struct ptt_stats *s)
{
	struct stats_track *k = s->track = mem_alloc(sizeof(*k));

	if (k == NULL)
		return -TALLY_ENOMEM;
	k->block = mem_alloc(PTT_TRACK_BLOCKS * sizeof(*k->block));
	k->mark = mem_alloc(sizeof(*k->mark));
	k->whole.step = k->whole.next = FIRST_STEP;
	for (uint32_t i = 0; i < PTT_STATS_DEVICES; i++)
		k->device[i].step = k->device[i].next = FIRST_STEP;
	return k->block && k->mark ? 0 : -TALLY_ENOMEM;
}

static void row_close(struct row *r)
{
	mem_free(r->block);
	mem_free(r->mark);
	mem_free(r->coarse);
}

void track_close(struct stats_track *k)
{
	if (k == NULL)
		return;
	for (uint32_t i = 0; i <= PTT_STATS_ROWS; i++)
		row_close(&k->row[i]);
	for (uint32_t i = 0; i < PTT_STATS_DEVICES; i++)
		mem_free(k->device[i].ticks);
	row_close(&k->first);
	row_close(&k->total);
	mem_free(k->block);
	mem_free(k->mark);
	mem_free(k);
}

static struct ptt_track row_track(const struct row *r, const struct stream *m)
{
	if (r->block == NULL)
		return (struct ptt_track){ 0 };
	return (struct ptt_track){
		.block = r->block, .coarse = (const uint32_t(*)[PTT_COARSE])r->coarse, .ticks = m->ticks, .n = m->n
	};
}

struct ptt_track track_of(const struct ptt_stats *s, uint32_t row)
{
	const struct stats_track *k = s->track;

	return row < s->requesters.n ? row_track(&k->row[row], &k->device[row_device(s, row)]) :
				       (struct ptt_track){ 0 };
}

void track_report(const struct ptt_stats *s, struct ptt_report *r)
{
	const struct stats_track *k = s->track;

	r->whole = k->block;
	r->nwhole = k->whole.n;
	r->whole_latency = row_track(&k->total, &k->whole);
	r->whole_first = row_track(&k->first, &k->whole);
}
