/*
 * stats_time.c: the time line.
 *
 * At most PTT_STATS_BINS bins of equal width from time 0. The width starts at one tick. It doubles, and two bins
 * become one, whenever a time is beyond the last bin. So the line always fits, and its width depends only on the
 * latest time, so that two lines can be merged.
 *
 * Outstanding requests are kept as their integral: a level that held from one time to another is spread over the bins
 * between. Integrals add up over shards; means and peaks would not.
 *
 * A trace of one direction holds requests whose completions it can never hold, above all a host's own reads. They are
 * not outstanding, but no record marks them. So the requests of a requester are kept apart, with bins of their own,
 * until one is answered: then all of them were the device's from the start. Only the peak can't be corrected: it counts
 * a requester from its first answer on. It is exact if it is no less than all that may have been open before that
 * (peak_most), and else a lower bound.
 *
 * For a device whose direction can't show the completions of some requests (enum ptt_coverage), a request counts as
 * outstanding only when it is answered, and then its time is added. So means are exact, and peaks are not known.
 *
 * Outstanding requests do not add up over devices: independent clocks have no common moment, and devices' records
 * stand one after the other in the file, so nothing shows how many requests all devices had open at once. So each
 * device has its own integral in each bin, and a bin shows the device with the most: its mean is the greatest of the
 * means, its peak that of the peaks.
 */
#include "ptt/stats_int.h"

static void bin_join(struct ptt_bin *into, const struct ptt_bin *from)
{
	into->tlps += from->tlps;
	into->bytes += from->bytes;
	into->opened += from->opened;
	into->done += from->done;
	for (uint32_t i = 0; i < COUNT(into->latency); i++)
		into->latency[i] += from->latency[i];
}

static void line_halve_bins(uint64_t ticks[PTT_STATS_BINS])
{
	for (uint32_t i = 0; i < PTT_STATS_BINS; i += 2)
		ticks[i / 2] = ticks[i] + ticks[i + 1];
	memset(&ticks[PTT_STATS_BINS / 2], 0, PTT_STATS_BINS / 2 * sizeof(*ticks));
}

static void line_double(struct time_line *l)
{
	for (uint32_t i = 0; i < PTT_STATS_BINS; i += 2) {
		struct ptt_bin two = l->bin[i];
		bin_join(&two, &l->bin[i + 1]);
		if (l->bin[i + 1].outstanding_peak > two.outstanding_peak)
			two.outstanding_peak = l->bin[i + 1].outstanding_peak;
		l->bin[i / 2] = two;
	}
	memset(&l->bin[PTT_STATS_BINS / 2], 0, PTT_STATS_BINS / 2 * sizeof(*l->bin));
	for (uint32_t d = 0; d < l->devices; d++)
		line_halve_bins(l->ticks[d]);
	for (struct stats_unheard *q = l->unheard; q != NULL; q = q->next) {
		line_halve_bins(q->ticks);
		line_halve_bins(q->opened);
	}
	l->used = (l->used + 1) / 2;
	l->width *= 2;
}

void line_align(struct time_line *into, struct time_line *from)
{
	while (into->width < from->width)
		line_double(into);
	while (from->width < into->width)
		line_double(from);
}

/* Peaks add up: those of two shards need not have been at one time, so the sum is a bound. */
void line_merge(struct time_line *into, struct time_line *from)
{
	for (uint32_t i = 0; i < from->used; i++) {
		bin_join(&into->bin[i], &from->bin[i]);
		into->bin[i].outstanding_peak += from->bin[i].outstanding_peak;
		for (uint32_t d = 0; d < from->devices; d++)
			into->ticks[d][i] += from->ticks[d][i];
	}
	if (from->used > into->used)
		into->used = from->used;
	if (from->devices > into->devices)
		into->devices = from->devices;
}

void line_finish(struct ptt_stats *s)
{
	for (uint32_t d = 0; d < s->line.devices; d++)
		for (uint32_t i = 0; i < s->line.used; i++) {
			uint64_t ticks = s->line.ticks[d][i], *most = &s->line.bin[i].outstanding_ticks;
			s->device[d].level_ticks += ticks;
			*most = ticks > *most ? ticks : *most;
		}
}

/* The number of the bin of a time, after making room for it. */
static uint32_t bin_number(struct ptt_stats *s, uint64_t time)
{
	struct time_line *l = &s->line;

	if (time / l->width >= PTT_STATS_BINS) {
		do
			line_double(l);
		while (time / l->width >= PTT_STATS_BINS);
		for (uint32_t i = 0; i < PTT_STATS_DEVICES; i++)
			s->device[i].bin_end = 0;
	}
	uint32_t i = (uint32_t)(time / l->width);
	if (i >= l->used)
		l->used = i + 1;
	return i;
}

struct ptt_bin *bin_find(struct ptt_stats *s, struct stats_device *d, uint64_t time)
{
	uint32_t i = bin_number(s, time), device = (uint32_t)(d - s->device);

	if (device >= s->line.devices)
		s->line.devices = device + 1;
	d->bin = &s->line.bin[i];
	d->bin_ticks = &s->line.ticks[device][i];
	d->bin_from = i * s->line.width;
	d->bin_end = d->bin_from + s->line.width;
	if (d->level > d->bin->outstanding_peak)
		d->bin->outstanding_peak = (uint32_t)d->level;
	return d->bin;
}

struct ptt_bin *bin_of(struct ptt_stats *s, uint64_t time)
{
	return &s->line.bin[bin_number(s, time)];
}

/* A level that held from one time to another. */
static void line_spread_level(struct ptt_stats *s, uint64_t *ticks, uint64_t level, uint64_t from, uint64_t to,
			      bool peaks)
{
	uint32_t last = bin_number(s, to);
	uint64_t width = s->line.width;

	for (uint32_t i = (uint32_t)(from / width); i <= last; i++) {
		uint64_t begin = i * width > from ? i * width : from;
		uint64_t end = (i + 1) * width < to ? (i + 1) * width : to;
		struct ptt_bin *b = &s->line.bin[i];
		ticks[i] += level * (end - begin);
		if (peaks && level > b->outstanding_peak && end > begin)
			b->outstanding_peak = (uint32_t)level;
	}
}

/* Brings the bins up to `time`, and the device to the bin of it. */
void level_keep(struct ptt_stats *s, struct stats_device *d, uint64_t time)
{
	bin_at(s, d, time);
	if (time > d->level_since && d->level != 0)
		line_spread_level(s, s->line.ticks[d - s->device], d->level, d->level_since, time, true);
}

void level_answered(struct ptt_stats *s, struct stats_device *d, uint64_t asked, uint64_t time)
{
	bin_at(s, d, time);
	s->line.bin[bin_number(s, asked)].opened++;
	line_spread_level(s, s->line.ticks[d - s->device], 1, asked, time, false);
}

/* ---- requesters that were not answered so far -------------------------------------------------------------------- */

static void unheard_keep(struct ptt_stats *s, struct stats_unheard *q, uint64_t time)
{
	if (time > q->since && q->level != 0)
		line_spread_level(s, q->ticks, q->level, q->since, time, false);
	q->since = time > q->since ? time : q->since;
}

void unheard_open(struct ptt_stats *s, struct stats_device *d, struct stats_requester *r, uint64_t time)
{
	struct stats_unheard *q = r->unheard;

	if (q == NULL) {
		if ((q = mem_alloc(sizeof(*q))) == NULL) {
			s->failed = true;
			return;
		}
		*q = (struct stats_unheard){ .next = s->line.unheard,
					     .device = (uint32_t)(d - s->device),
					     .since = time };
		r->unheard = s->line.unheard = q;
	}
	bin_at(s, d, time);
	unheard_keep(s, q, time);
	if (++q->level > q->peak)
		q->peak = q->level;
	q->requests++;
	q->opened[bin_number(s, time)]++;
}

/* Of a device, hardly more requests than there are tags pass both ports before the first is answered. */
enum { AGAIN_MOST = 1024 };

static void unheard_add_again(struct ptt_stats *s, struct stats_unheard *q, const struct tlp *t)
{
	struct tlp *to = VEC_NEW(q->again, q->nagain, q->capagain);

	s->failed |= to == NULL;
	if (to != NULL)
		*to = *t;
}

bool unheard_duplicate(struct ptt_stats *s, struct stats_requester *r, const struct tlp *t)
{
	struct stats_unheard *q = r->unheard;

	if (q->nagain == AGAIN_MOST) {
		q->more++;
		return false;
	}
	unheard_add_again(s, q, t);
	return true;
}

/* Those that were kept, before those of another part of the trace. */
static void unheard_join_again(struct ptt_stats *s, struct stats_unheard *into, const struct stats_unheard *from)
{
	for (uint32_t i = 0; i < from->nagain; i++)
		unheard_add_again(s, into, &from->again[i]);
	into->more += from->more;
}

void unheard_close(struct ptt_stats *s, struct stats_requester *r, uint64_t time)
{
	unheard_keep(s, r->unheard, time);
	r->unheard->level--;
}

void unheard_settle(struct ptt_stats *s, struct stats_requester *r, uint64_t end)
{
	unheard_keep(s, r->unheard, end);
}

/* A shard hears later of a requester than one count of all would, so it adds the most that was open of it to the peaks
 * before. */
static void unheard_raise_peaks(struct ptt_stats *s, const struct stats_unheard *q)
{
	struct stats_device *d = &s->device[q->device];

	for (uint32_t i = 0; i < PTT_STATS_BINS; i++) {
		uint32_t *peak = &s->line.bin[i].outstanding_peak;
		if (q->ticks[i] == 0 && q->opened[i] == 0)
			continue;
		*peak += (uint32_t)q->peak;
		d->peak = *peak > d->peak ? *peak : d->peak;
	}
}

void unheard_free(struct stats_unheard *q)
{
	if (q == NULL)
		return;
	mem_free(q->again);
	mem_free(q);
}

void unheard_fold(struct ptt_stats *s, struct stats_requester *r)
{
	struct stats_unheard *q = r->unheard, **at = &s->line.unheard;
	struct stats_device *d = &s->device[q->device];
	const uint64_t most = d->peak_most > d->peak ? d->peak_most : d->peak;

	d->peak_most = most + q->peak;
	for (uint32_t i = 0; i < PTT_STATS_BINS; i++) {
		s->line.ticks[q->device][i] += q->ticks[i];
		s->line.bin[i].opened += q->opened[i];
	}
	if (s->opts.shards > 1)
		unheard_raise_peaks(s, q);
	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
	unheard_free(q);
	r->unheard = NULL;
}

void unheard_answered(struct ptt_stats *s, struct stats_device *d, struct stats_requester *r, uint64_t time)
{
	uint64_t level;

	r->heard = true;
	if (r->unheard == NULL)
		return;
	unheard_keep(s, r->unheard, time);
	level = r->unheard->level;
	unheard_fold(s, r);
	level_add(s, d, time, 0);
	d->level += level;
	if (d->level > d->peak)
		d->peak = d->level;
	if (d->level > d->bin->outstanding_peak)
		d->bin->outstanding_peak = (uint32_t)d->level;
}

void unheard_merge(struct ptt_stats *s, struct stats_requester *into, struct stats_requester *from)
{
	struct stats_unheard *q = from->unheard;

	into->heard |= from->heard;
	if (q != NULL && into->unheard == NULL) {
		struct stats_unheard *mine = mem_alloc(sizeof(*mine));
		s->failed |= mine == NULL;
		if (mine == NULL)
			return;
		*mine = *q;
		q->again = NULL;
		q->nagain = q->capagain = 0;
		mine->next = s->line.unheard;
		into->unheard = s->line.unheard = mine;
	} else if (q != NULL) {
		unheard_join_again(s, into->unheard, q);
		into->unheard->requests += q->requests;
		into->unheard->oldest = q->oldest > into->unheard->oldest ? q->oldest : into->unheard->oldest;
		into->unheard->peak += q->peak;
		for (uint32_t i = 0; i < PTT_STATS_BINS; i++) {
			into->unheard->ticks[i] += q->ticks[i];
			into->unheard->opened[i] += q->opened[i];
		}
		for (uint32_t i = 0; i < PTT_TRACK_BLOCKS; i++)
			for (unsigned f = 0; f < COUNT(q->fault[i]); f++)
				into->unheard->fault[i][f] += q->fault[i][f];
	}
	if (into->heard && into->unheard != NULL)
		unheard_fold(s, into);
}
