/*
 * stats_report.c: counts become tables.  All that is derived is derived here,
 * once, so that no reader of the report computes a figure on its own.
 */
#include <stdlib.h>

#include "ptt/match_int.h"
#include "ptt/stats_int.h"

struct stats_report {
	struct ptt_report r;
	struct arena arena;
};

void stats_report_free(struct stats_report *r)
{
	if (r != NULL)
		arena_free(&r->arena);
	mem_free(r);
}

/* Largest first; where that leaves a choice, in an order that shards don't change. */
static int report_order(uint64_t x, uint64_t y, uint64_t tie_x, uint64_t tie_y)
{
	if (x != y)
		return x < y ? 1 : -1;
	return (tie_x > tie_y) - (tie_x < tie_y);
}

static int by_tlps(const void *a, const void *b)
{
	const struct ptt_type_row *x = a, *y = b;
	return report_order(x->tlps, y->tlps, x->type_index, y->type_index);
}

static int by_requester_bytes(const void *a, const void *b)
{
	const struct ptt_requester_row *x = a, *y = b;
	return report_order(x->written_bytes + x->read_bytes, y->written_bytes + y->read_bytes,
			    requester_key(x->device, x->segment, x->requester),
			    requester_key(y->device, y->segment, y->requester));
}

static int by_completer_bytes(const void *a, const void *b)
{
	const struct ptt_completer_row *x = a, *y = b;
	return report_order(x->bytes, y->bytes, completer_key(x->device, x->completer),
			    completer_key(y->device, y->completer));
}

/* ---- tables ------------------------------------------------------------------------------------- */

/* Requests of the device that can be answered in this trace. */
static uint64_t answerable_of(const struct ptt_report *r, const struct ptt_device_row *d)
{
	uint64_t n = d->non_posted;

	for (uint32_t i = 0; i < r->nrequesters; i++) {
		const struct ptt_requester_row *q = &r->requester[i];
		if (!q->others && q->device == d->device)
			n -= q->unanswerable < n ? q->unanswerable : n;
	}
	return n;
}

/* Those of the device that had most on average; where no average is known, which device it is isn't either. */
static void take_outstanding(struct ptt_report *r, const struct ptt_device_row *d)
{
	uint64_t span = r->outstanding_span;

	r->sparse |= d->sparse;
	r->mean_known = (r->mean_known || d->mean_known) && !r->sparse;
	if (r->ndevices > 0 && (d->span == 0 || (span != 0 && (double)d->outstanding_ticks / (double)d->span <=
								      (double)r->outstanding_ticks / (double)span)))
		return;
	r->outstanding_ticks = d->outstanding_ticks;
	r->outstanding_span = d->span;
	r->outstanding_peak = d->outstanding_peak;
	r->peak_known = d->peak_known;
	r->peak_at_least = d->peak_at_least;
}

/* What its format and its gaps leave to be known of its times, and its matching of what was open. */
static void make_device_bounds(const struct ptt_stats *s, const struct ptt_report *r, struct ptt_device_row *v)
{
	const struct stats_device *d = &s->device[v->device];
	v->wraps = d->format == PTT_4DW;
	v->sparse = d->sparse;
	v->moved = d->moved;
	v->span_at_least = v->wraps || d->time != PTT_TIME_ABS || d->gaps != 0;
	v->hides_answers = hides_answers(d);
	v->answerable = s->match != NULL ? answerable_of(r, v) : 0;
	v->mean_known = v->answerable && !d->sparse && v->span;
	v->peak_known = v->answerable && !v->hides_answers;
	v->peak_at_least = !s->merged && d->peak < d->peak_most;
}

const struct ptt_device_row *ptt_report_device(const struct ptt_report *r, uint32_t device)
{
	uint32_t i = 0;

	while (i + 1 < r->ndevices && r->device[i].device != device)
		i++;
	return &r->device[i];
}

static void make_devices(const struct ptt_stats *s, struct stats_report *to)
{
	struct ptt_device_row *v = arena_alloc(&to->arena, PTT_STATS_DEVICES * sizeof(*v));
	struct ptt_report *r = &to->r;
	bool first = true;

	for (uint32_t i = 0; v && i < PTT_STATS_DEVICES; i++) {
		const struct stats_device *d = &s->device[i];
		uint64_t records =
			d->cls[TLP_P] + d->cls[TLP_NP] + d->cls[TLP_CPL] + d->cls[TLP_RESERVED] + d->duplicates;
		if (records == 0)
			continue;
		v[r->ndevices] = (struct ptt_device_row){
			.device = i,
			.records = records,
			.record_bytes = records * d->format * 4,
			.posted = d->cls[TLP_P],
			.non_posted = d->cls[TLP_NP],
			.completions = d->cls[TLP_CPL],
			.span = d->clock.now - (d->ahead < d->clock.now ? d->ahead : d->clock.now),
			.format = d->format,
			.time = d->time,
			.time_sure = d->time_sure,
			.outstanding_ticks = d->level_ticks,
			.outstanding_peak = (uint32_t)d->peak,
			.gaps = d->gaps,
			.duplicates = d->duplicates,
			.strays = d->strays,
			.config = d->config,
			.requestless = d->requestless,
		};
		make_device_bounds(s, r, &v[r->ndevices]);
		r->requestless += d->requestless;
		r->gaps += d->gaps;
		r->duplicates += d->duplicates;
		r->strays += d->strays;
		r->span_at_least |= v[r->ndevices].span_at_least;
		r->wraps |= v[r->ndevices].wraps;
		r->span = v[r->ndevices].span > r->span ? v[r->ndevices].span : r->span;
		take_outstanding(r, &v[r->ndevices++]);
		r->records += records;
		r->record_bytes += records * d->format * 4;
		for (unsigned k = 0; k < COUNT(r->cls); k++)
			r->cls[k] += d->cls[k];
		r->time = first || r->time == d->time ? d->time : PTT_TIME_AUTO;
		r->time_sure = (first || r->time_sure) && d->time_sure;
		first = false;
	}
	r->peak_known &= !r->sparse || r->ndevices == 1;
	r->device = v;
}

static void sum_type(struct ptt_report *r, const struct ptt_type_row *t)
{
	const struct tlp_type *y = tlp_type_at(t->type_index);
	uint64_t whole = 4 * t->dws;

	r->kind[t->kind] += t->tlps;
	if (t->kind == PTT_RESERVED)
		return;
	r->relaxed += t->relaxed;
	r->ordered += t->tlps - t->relaxed;
	r->traffic.tlps += t->tlps;
	r->traffic.header_bytes += t->tlps * 4 * (3 + (y->fmt & 1u));
	r->traffic.framing_bytes += t->tlps * 8;
	if (y->data) {
		r->traffic.payload_bytes += whole;
		r->traffic.useful_bytes += t->bytes;
	}
	if (t->kind == PTT_WRITE) {
		r->write_bytes += whole;
		r->write_enabled += t->bytes;
	} else if (t->kind == PTT_READ) {
		r->read_bytes += whole;
		r->read_enabled += t->bytes;
	}
}

static void make_types(const struct ptt_stats *s, struct stats_report *to)
{
	struct ptt_type_row *v = arena_alloc(&to->arena, TYPES * sizeof(*v));
	struct ptt_report *r = &to->r;

	for (uint32_t i = 0; v && i < TYPES; i++) {
		const struct stats_type *t = &s->type[i];
		if (t->tlps == 0)
			continue;
		v[r->ntypes] = (struct ptt_type_row){ .type_index = (uint8_t)i,
						      .kind = s->kind[i],
						      .tlps = t->tlps,
						      .dws = t->dws,
						      .bytes = t->bytes,
						      .relaxed = t->relaxed,
						      .posted_twice = t->posted_twice };
		sum_type(r, &v[r->ntypes++]);
	}
	if (v != NULL)
		qsort(v, r->ntypes, sizeof(*v), by_tlps);
	r->type = v;
	struct ptt_traffic *t = &r->traffic;
	t->header_bytes += s->extra_bytes;
	uint64_t link = t->payload_bytes + t->header_bytes + t->framing_bytes;
	r->efficiency = link ? (double)t->useful_bytes * 1000 / (double)link : 0;
}

static void fill_requester(const struct ptt_stats *s, uint32_t row, struct ptt_requester_row *to)
{
	const struct stats_requester *r = &s->requester[row];
	bool others = row == PTT_STATS_ROWS;
	uint64_t key = others ? 0 : s->requesters.of_row[row];

	*to = (struct ptt_requester_row){
		.others = others,
		.device = (uint32_t)(key >> 32),
		.segment = (uint16_t)(key >> 16),
		.requester = (uint16_t)key,
		.written_bytes = r->bytes[PTT_WRITE],
		.asked_bytes = r->bytes[PTT_READ],
		.read_bytes = r->bytes[PTT_COMPLETION],
		.largest_write = r->largest[PTT_WRITE],
		.largest_read = r->largest[PTT_READ],
		.answered = r->answered,
		.unanswered = r->unanswered,
		.given_up = r->given_up,
		.failed = r->failed,
		.cut = r->cut,
		.unanswerable = r->unanswerable,
		.posted_twice = r->posted_twice,
		.config = r->config,
		.outstanding_peak = r->peak,
		.peak_known = r->peak != 0 && !r->unanswerable && !hides_answers(device_of_row(s, row)),
		.latency = r->latency,
	};
	if (s->track != NULL)
		to->track = track_of(s, row);
	for (unsigned k = 0; k < PTT_KINDS; k++) {
		to->kind[k] = r->kind[k];
		to->tlps += r->kind[k];
	}
}

static void make_requesters(const struct ptt_stats *s, struct stats_report *to)
{
	uint32_t n = s->requesters.n;
	struct ptt_requester_row *v = arena_alloc(&to->arena, (n + 1) * sizeof(*v));

	if (v == NULL)
		return;
	for (uint32_t i = 0; i < n; i++)
		fill_requester(s, i, &v[i]);
	qsort(v, n, sizeof(*v), by_requester_bytes);
	fill_requester(s, PTT_STATS_ROWS, &v[n]);
	to->r.requester = v;
	to->r.nrequesters = n + (v[n].tlps != 0);
}

static void make_completers(const struct ptt_stats *s, struct stats_report *to)
{
	uint32_t n = s->completers.n;
	struct ptt_completer_row *v = arena_alloc(&to->arena, (n + 1) * sizeof(*v));

	if (v == NULL)
		return;
	for (uint32_t i = 0; i <= n; i++) {
		const struct stats_completer *c = &s->completer[i < n ? i : PTT_STATS_ROWS];
		uint64_t key = i < n ? s->completers.of_row[i] : 0;
		v[i] = (struct ptt_completer_row){
			.others = i == n,
			.device = (uint32_t)(key >> 16),
			.completer = (uint16_t)key,
			.bytes = c->bytes,
			.largest = c->largest,
			.latency = c->latency,
		};
		for (unsigned k = 0; k < COUNT(c->status); k++) {
			v[i].status[k] = c->status[k];
			v[i].completions += c->status[k];
		}
	}
	qsort(v, n, sizeof(*v), by_completer_bytes);
	to->r.completer = v;
	to->r.ncompleters = n + (v[n].completions != 0);
}

static void make_pages(struct ptt_stats *s, struct stats_report *to)
{
	struct ptt_report *r = &to->r;

	r->pages_known = sketch_sort(&s->pages);
	struct ptt_page_row *v = arena_alloc(&to->arena, (r->pages_known + 1) * sizeof(*v));
	r->pages_error = s->pages.error;
	r->pages_exact = s->pages.error == 0;
	for (; v && r->npages < r->pages_known; r->npages++) {
		const struct sketch_entry *e = &s->pages.entry[r->npages];
		v[r->npages] = (struct ptt_page_row){
			.address = (e->key - place_key((uint32_t)(e->owner >> 32))) << 12,
			.tlps = e->n,
			.read_bytes = e->sum[PAGE_READ],
			.written_bytes = e->sum[PAGE_WRITE],
			.device = (uint32_t)(e->owner >> 32),
			.requester = (uint16_t)e->owner,
			.several = e->several,
		};
	}
	r->page = v;
}

static void make_targets(struct ptt_stats *s, struct stats_report *to)
{
	struct ptt_report *r = &to->r;
	uint32_t known = sketch_sort(&s->targets);
	struct ptt_target_row *v = arena_alloc(&to->arena, ((size_t)known + 1) * sizeof(*v));

	r->targets_error = s->targets.error;
	r->targets_exact = s->targets.error == 0;
	for (uint32_t i = 0; v && i < known && s->targets.entry[i].n > 1; i++) {
		const struct sketch_entry *e = &s->targets.entry[i];
		uint64_t address = e->key - place_key((uint32_t)(e->owner >> 32));
		v[r->ntargets++] = (struct ptt_target_row){
			.address = address,
			.writes = e->n,
			.first = e->sum[TARGET_FIRST],
			.last = e->sum[TARGET_LAST],
			.device = (uint32_t)(e->owner >> 32),
			.requester = (uint16_t)e->owner,
			.several = e->several,
			.x86_msi = address >> 20 == 0xfee,
			.mean_interval = (e->sum[TARGET_LAST] - e->sum[TARGET_FIRST]) / (e->n - 1),
		};
	}
	r->target = v;
}

static void make_faults(struct ptt_stats *s, struct stats_report *to)
{
	struct ptt_report *r = &to->r;
	uint32_t kept = 0;

	for (unsigned f = 0; f < PTT_FAULTS; f++) {
		r->fault_count[f] = s->fault_count[f];
		kept += s->nfaults[f];
	}
	struct ptt_fault_row *v = arena_alloc(&to->arena, ((size_t)kept + 1) * sizeof(*v));
	r->nfaults = v ? fault_rank(s, v) : 0;
	r->fault = v;
	if (s->opts.all_errors) {
		fault_sort_all(s);
		r->fault = s->error;
		r->nfaults = s->nerrors;
	}
	for (unsigned i = 0; i < COUNT(r->message_code); i++) {
		r->message_code[i] = s->message_code[i];
		r->messages += s->message_code[i];
	}
	r->message = s->message;
	r->nmessages = s->nmessages;
}

/* What a limit of so many bytes must at least be: limits are powers of two from 128 (7.5.3.4). */
static uint32_t limit_of(uint32_t dws)
{
	uint32_t limit = 128;

	while (limit < 4 * dws)
		limit *= 2;
	return dws ? limit : 0;
}

static uint32_t largest_size(const uint64_t size[1025])
{
	uint32_t n = 1024;

	while (n > 0 && size[n] == 0)
		n--;
	return n;
}

static void make_split(const struct ptt_stats *s, struct ptt_report *r)
{
	uint32_t written = largest_size(s->size[PTT_SIZE_WRITE]);
	uint32_t completed = largest_size(s->size[PTT_SIZE_COMPLETION]);

	r->size = s->size;
	r->split = (struct ptt_split){ .ends_128 = s->ends[END_128],
				       .ends_64 = s->ends[END_64],
				       .ends_odd = s->ends[END_ODD] };
	memcpy(r->split.pieces, s->pieces, sizeof(s->pieces));
	r->split.mps = limit_of(written > completed ? written : completed);
	r->split.mrrs = limit_of(largest_size(s->size[PTT_SIZE_READ]));
	r->split.rcb = s->ends[END_64] ? 64 : s->ends[END_128] ? 128 : 0;
}

static void make_matched(const struct ptt_stats *s, struct ptt_report *r)
{
	r->padding = s->padding;
	r->matched = s->match != NULL;
	r->requests = s->requests;
	r->answered = s->answered;
	r->failed = s->failed_requests;
	r->gap = s->gap;
	r->ngaps = s->ngaps;
	r->gap_bytes = s->gap_bytes;
	r->posted_twice = s->posted_twice;
	r->cut = s->cut;
	r->unanswerable = s->unanswerable;
	r->after_gap = s->after_gap;
	r->misfits = s->misfits;
	r->broken = s->broken;
	r->never_answered = s->latency.n != 0 && s->oldest / 2 > s->latency.most;
	for (uint32_t i = 0; i <= PTT_STATS_ROWS; i++)
		r->twice_unsure |= s->requester[i].doubts != 0 || s->requester[i].doubt_age / 2 > s->latency.most;
	r->may_mispair =
		s->place_unknown || r->twice_unsure ||
		s->fault_count[PTT_FAULT_UNEXPECTED_CPL] + s->fault_count[PTT_FAULT_REUSED] + r->misfits + r->broken !=
			0;
	r->may_miss = r->may_mispair || r->never_answered;
	r->latency = &s->latency;
	r->latency_first = &s->latency_first;
	r->peak_is_bound = s->merged && s->match != NULL;
	r->bin = s->line.bin;
	r->nbins = s->line.used;
	r->bin_ticks = s->line.width;
}

int ptt_stats_finish(struct ptt_stats *s, const struct ptt_report **ret)
{
	if (s->report != NULL)
		return -TALLY_ESTATE;
	stats_settle(s);
	stats_mark_unanswerable(s);
	struct stats_report *to = s->report = mem_alloc(sizeof(*to));
	if (to == NULL)
		return -TALLY_ENOMEM;
	line_finish(s);
	if (s->track != NULL)
		track_report(s, &to->r);
	make_requesters(s, to);
	make_completers(s, to);
	make_devices(s, to);
	make_types(s, to);
	make_pages(s, to);
	make_targets(s, to);
	make_faults(s, to);
	make_split(s, &to->r);
	make_matched(s, &to->r);
	stats_notes(s, &to->r);
	if (s->failed || to->arena.failed)
		return -TALLY_ENOMEM;
	*ret = &to->r;
	return 0;
}
