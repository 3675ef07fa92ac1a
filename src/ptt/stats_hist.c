/*
 * stats_hist.c: the log-linear histogram of stats.h.
 *
 * A bucket's number is `shift` times 128 plus v >> shift, where shift leaves the top 8 bits of v, or all of a smaller
 * v. The top bit of v >> shift is set from the second power of two on, so the number of one power starts where the one
 * below it ends.  Latencies of a device span a few powers of two: of the 59 KB of a histogram those few KB are touched.
 */
#include "ptt/stats_int.h"

uint32_t ptt_hist_bucket(uint64_t v)
{
	return hist_bucket(v);
}

uint64_t ptt_hist_least(uint32_t bucket)
{
	uint32_t shift = bucket >> PTT_HIST_BITS ? (bucket >> PTT_HIST_BITS) - 1 : 0;

	return (uint64_t)(bucket - (shift << PTT_HIST_BITS)) << shift;
}

uint64_t ptt_hist_most(uint32_t bucket)
{
	return bucket + 1 < PTT_HIST_BUCKETS ? ptt_hist_least(bucket + 1) - 1 : UINT64_MAX;
}

void ptt_hist_add(struct ptt_hist *h, uint64_t v)
{
	hist_put(h, v, hist_bucket(v));
}

struct ptt_hist *hist_new(struct ptt_stats *s)
{
	struct ptt_hist *h = mem_alloc(sizeof(*h));

	s->failed |= h == NULL;
	return h;
}

void ptt_hist_merge(struct ptt_hist *into, const struct ptt_hist *from)
{
	if (from->n == 0)
		return;
	if (into->n == 0 || from->least < into->least)
		into->least = from->least;
	if (from->most > into->most)
		into->most = from->most;
	into->n += from->n;
	into->sum += from->sum;
	for (uint32_t i = hist_bucket(from->least); i <= hist_bucket(from->most); i++)
		into->bucket[i] += from->bucket[i];
}

/* Of a histogram that has values. */
static uint32_t hist_bucket_at(const struct ptt_hist *h, uint32_t per_mille)
{
	/* The rank, rounded up, without overflow: n may be near 2^64 / 1000. */
	uint64_t rank = h->n / 1000 * per_mille + (h->n % 1000 * per_mille + 999) / 1000, below = 0;
	for (uint32_t i = 0; i < PTT_HIST_BUCKETS; i++) {
		below += h->bucket[i];
		if (below >= rank && below > 0)
			return i;
	}
	return hist_bucket(h->most);
}

uint64_t ptt_hist_at(const struct ptt_hist *h, uint32_t per_mille)
{
	if (h == NULL || h->n == 0)
		return 0;
	uint64_t most = ptt_hist_most(hist_bucket_at(h, per_mille));
	return most < h->most ? most : h->most;
}

uint64_t ptt_hist_at_least(const struct ptt_hist *h, uint32_t per_mille)
{
	if (h == NULL || h->n == 0)
		return 0;
	uint64_t least = ptt_hist_least(hist_bucket_at(h, per_mille));
	return least > h->least ? least : h->least;
}
