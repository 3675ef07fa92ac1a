/*
 * stats_merge.c: the counts of two shards become those of both.  Nearly all of
 * them are sums.  What is not: peaks, which become bounds; the first of a log,
 * which fault_keep() and message_keep() sort out; and tables that were cut,
 * where each shard cut for itself.
 */
#include "ptt/match_int.h"
#include "ptt/stats_count_int.h"

static void merge_hist(struct ptt_stats *s, struct ptt_hist **into, const struct ptt_hist *from)
{
	if (from == NULL)
		return;
	if (*into == NULL && (*into = mem_alloc(sizeof(**into))) == NULL)
		s->failed = true;
	else
		ptt_hist_merge(*into, from);
}

static uint32_t merge_greater(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static void merge_requester(struct ptt_stats *s, uint32_t row, struct stats_requester *from)
{
	struct stats_requester *r = &s->requester[row];

	for (unsigned k = 0; k < PTT_KINDS; k++) {
		r->kind[k] += from->kind[k];
		r->bytes[k] += from->bytes[k];
		r->largest[k] = merge_greater(r->largest[k], from->largest[k]);
	}
	r->peak += from->peak;
	r->answered += from->answered;
	r->unanswered += from->unanswered;
	r->given_up += from->given_up;
	r->failed += from->failed;
	r->cut += from->cut;
	r->evicted += from->evicted;
	r->posted_twice += from->posted_twice;
	r->doubts += from->doubts;
	r->doubt_age = from->doubt_age > r->doubt_age ? from->doubt_age : r->doubt_age;
	r->config += from->config;
	unheard_merge(s, r, from);
	merge_hist(s, &r->latency, from->latency);
}

static void merge_completer(struct ptt_stats *s, uint32_t row, const struct stats_completer *from)
{
	struct stats_completer *c = &s->completer[row];

	c->bytes += from->bytes;
	c->duplicates += from->duplicates;
	for (unsigned i = 0; i < COUNT(c->status); i++)
		c->status[i] += from->status[i];
	c->largest = merge_greater(c->largest, from->largest);
	merge_hist(s, &c->latency, from->latency);
}

static void merge_rows(struct ptt_stats *s, const struct ptt_stats *from)
{
	for (uint32_t i = 0; i < from->requesters.n; i++)
		merge_requester(s, row_of(&s->requesters, from->requesters.of_row[i]), &from->requester[i]);
	merge_requester(s, PTT_STATS_ROWS, &from->requester[PTT_STATS_ROWS]);
	for (uint32_t i = 0; i < from->completers.n; i++)
		merge_completer(s, row_of(&s->completers, from->completers.of_row[i]), &from->completer[i]);
	merge_completer(s, PTT_STATS_ROWS, &from->completer[PTT_STATS_ROWS]);
}

static void merge_devices(struct ptt_stats *s, const struct ptt_stats *from)
{
	for (uint32_t i = 0; i < PTT_STATS_DEVICES; i++) {
		struct stats_device *d = &s->device[i];
		const struct stats_device *f = &from->device[i];
		for (unsigned k = 0; k < COUNT(d->cls); k++)
			d->cls[k] += f->cls[k];
		d->peak += f->peak;
		d->duplicates += f->duplicates;
		d->requestless += f->requestless;
		d->coverage |= f->coverage;
		d->config = d->config ? d->config : f->config;
		if (f->clock.now > d->clock.now)
			d->clock.now = f->clock.now;
		d->format = d->format ? d->format : f->format;
		d->time_sure |= f->time_sure;
		d->sparse |= f->sparse;
		d->moved |= f->moved;
		d->time = d->time != PTT_TIME_AUTO ? d->time : f->time;
		d->bin_end = 0; /* merging moves the bins */
	}
}

static void merge_sketches(struct ptt_stats *s, const struct ptt_stats *from)
{
	for (uint32_t i = 0; i <= from->pages.mask; i++) {
		const struct sketch_entry *e = &from->pages.entry[i];
		if (e->n == 0)
			continue;
		struct sketch_entry *to = add_to_page(s, e->key, e->owner, e->n);
		to->sum[PAGE_READ] += e->sum[PAGE_READ];
		to->sum[PAGE_WRITE] += e->sum[PAGE_WRITE];
		to->several |= e->several;
	}
	for (uint32_t i = 0; i <= from->targets.mask; i++) {
		const struct sketch_entry *e = &from->targets.entry[i];
		if (e->n != 0)
			add_target(s, e->key, e->owner, e->n, e->sum[TARGET_FIRST], e->sum[TARGET_LAST])->several |=
				e->several;
	}
	s->pages.error += from->pages.error;
	s->targets.error += from->targets.error;
}

static void merge_logs(struct ptt_stats *s, const struct ptt_stats *from)
{
	for (unsigned i = 0; i < COUNT(s->message_code); i++)
		s->message_code[i] += from->message_code[i];
	for (uint32_t i = 0; i < from->nmessages; i++)
		message_keep(s, &from->message[i]);
	for (unsigned f = 0; f < PTT_FAULTS; f++) {
		s->fault_count[f] += from->fault_count[f];
		for (uint32_t i = 0; i < from->nfaults[f]; i++)
			fault_keep(s, &from->fault[f][i]);
	}
	for (uint32_t i = 0; i < from->nerrors && s->nerrors < PTT_STATS_ERRORS; i++) {
		struct ptt_fault_row *to = VEC_NEW(s->error, s->nerrors, s->caperrors);
		s->failed |= to == NULL;
		if (to == NULL)
			return;
		*to = from->error[i];
	}
}

static void merge_sizes(struct ptt_stats *s, const struct ptt_stats *from)
{
	for (unsigned k = 0; k <= PTT_SIZES; k++)
		for (unsigned i = 0; i < COUNT(s->size[k]); i++)
			s->size[k][i] += from->size[k][i];
	for (unsigned i = 0; i < TYPES; i++) {
		s->type[i].tlps += from->type[i].tlps;
		s->type[i].dws += from->type[i].dws;
		s->type[i].bytes += from->type[i].bytes;
		s->type[i].relaxed += from->type[i].relaxed;
	}
	for (unsigned i = 0; i < ENDS; i++)
		s->ends[i] += from->ends[i];
	for (unsigned i = 0; i < COUNT(s->pieces); i++)
		s->pieces[i] += from->pieces[i];
}

int ptt_stats_merge(struct ptt_stats *into, struct ptt_stats *from)
{
	if (into->opts.match != from->opts.match || into->opts.track != from->opts.track || into->report ||
	    from->report || from->merged)
		return -TALLY_ESTATE;
	stats_settle(from);
	stats_settle(into); /* before rows, bins and clocks change */
	into->merged = true;
	into->failed |= from->failed;
	into->padding += from->padding;
	into->extra_bytes += from->extra_bytes;
	into->requests += from->requests;
	into->answered += from->answered;
	into->failed_requests += from->failed_requests;
	into->cut += from->cut;
	into->after_gap += from->after_gap;
	into->place_unknown |= from->place_unknown;
	into->misfits += from->misfits;
	into->broken += from->broken;
	into->oldest = from->oldest > into->oldest ? from->oldest : into->oldest;
	into->posted_twice += from->posted_twice;
	for (uint32_t i = 0; i < into->ngaps && i < from->ngaps; i++)
		into->gap[i].cut += from->gap[i].cut;
	ptt_hist_merge(&into->latency, &from->latency);
	ptt_hist_merge(&into->latency_first, &from->latency_first);
	ptt_hist_merge(&into->open_age, &from->open_age);
	line_align(&into->line, &from->line);
	merge_sizes(into, from);
	merge_rows(into, from);
	if (into->track != NULL)
		track_merge(into, from);
	merge_devices(into, from);
	merge_sketches(into, from);
	merge_logs(into, from);
	break_merge(into, from);
	line_merge(&into->line, &from->line);
	return into->failed ? -TALLY_ENOMEM : 0;
}
