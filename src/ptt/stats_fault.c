/*
 * stats_fault.c: errors and messages. All are counted. The first of each kind are kept, and of errors the first of
 * each requester, too, so that a thousand errors of one requester do not hide the single one of another. A shard may
 * learn of an earlier one later, so rows are sorted by their offset.
 */
#include <stdlib.h>

#include "ptt/stats_int.h"

const char *ptt_fault_name(enum ptt_fault f)
{
	static const char *const names[PTT_FAULTS] = {
		[PTT_FAULT_UR] = "unsupported request",
		[PTT_FAULT_CRS] = "configuration request retry",
		[PTT_FAULT_CA] = "completer abort",
		[PTT_FAULT_STATUS] = "reserved completion status",
		[PTT_FAULT_POISONED] = "poisoned packet",
		[PTT_FAULT_UNANSWERED] = "unanswered request",
		[PTT_FAULT_UNEXPECTED_CPL] = "unexpected completion",
		[PTT_FAULT_REUSED] = "tag reused while open",
		[PTT_FAULT_EVICTED] = "evicted: too many outstanding",
		[PTT_FAULT_RESERVED] = "reserved type",
	};
	return (unsigned)f < PTT_FAULTS ? names[f] : "?";
}

static bool fault_is_of(const struct ptt_fault_row *a, const struct ptt_fault_row *b)
{
	return a->device == b->device && a->segment == b->segment && a->requester == b->requester;
}

/* Of a requester's more than PTT_STATS_SAMPLE the last in the file makes room. */
void fault_keep(struct ptt_stats *s, const struct ptt_fault_row *row)
{
	struct ptt_fault_row *v = s->fault[row->fault];
	uint32_t *n = &s->nfaults[row->fault], i = *n, same = 0, last = 0;

	for (uint32_t k = 0; k < *n; k++)
		if (fault_is_of(&v[k], row)) {
			same++;
			last = k;
		}
	if (same == PTT_STATS_SAMPLE) {
		if (v[last].offset < row->offset)
			return;
		memmove(&v[last], &v[last + 1], (--*n - last) * sizeof(*v));
		i = *n;
	}
	while (i > 0 && v[i - 1].offset > row->offset)
		i--;
	if (i == PTT_STATS_SAMPLES)
		return;
	*n += *n < PTT_STATS_SAMPLES;
	memmove(&v[i + 1], &v[i], (*n - i - 1) * sizeof(*v));
	v[i] = *row;
}

static void fault_keep_all(struct ptt_stats *s, const struct ptt_fault_row *row)
{
	struct ptt_fault_row *to = s->nerrors < PTT_STATS_ERRORS ? VEC_NEW(s->error, s->nerrors, s->caperrors) : NULL;

	s->failed |= to == NULL && s->nerrors < PTT_STATS_ERRORS;
	if (to != NULL)
		*to = *row;
}

void fault_add(struct ptt_stats *s, enum ptt_fault f, const struct tlp *t, const struct ptt_pair *pair)
{
	struct ptt_fault_row row = {
		.fault = (uint8_t)f,
		.time = t->time,
		.offset = t->offset,
		.device = t->device,
		.tag = t->tag,
		.segment = t->segment,
		.requester = t->requester,
		.completer = t->completer,
		.type_index = t->type_index,
	};
	if (pair != NULL) {
		const struct tlp *q = &pair->request;
		row.has_request = true;
		row.request_type_index = q->type_index;
		row.request_offset = q->offset;
		row.address = tlp_type_at(q->type_index)->layout == TLP_CFG ? q->reg : q->address;
		row.latency = t->time - q->time;
	}
	s->fault_count[f]++;
	if (s->opts.all_errors)
		fault_keep_all(s, &row);
	/* A requester's later ones come later in the file, so a few are enough. Those that share a row are told apart
	 * by fault_keep(), and what is reserved has none. */
	struct stats_requester *r = f == PTT_FAULT_RESERVED ?
					    &s->requester[PTT_STATS_ROWS] :
					    requester_at(s, requester_key(t->device, t->segment, t->requester));
	if (r->faults[f] == PTT_STATS_SAMPLE)
		return;
	r->faults[f] += r != &s->requester[PTT_STATS_ROWS];
	fault_keep(s, &row);
}

/* Those of the rows that can be an error at all, at the front. */
static uint32_t fault_filter(struct ptt_stats *s, struct ptt_fault_row *v, uint32_t rows)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < rows; i++) {
		bool open = v[i].fault <= PTT_FAULT_EVICTED;

		if (!open ||
		    requester_at(s, requester_key(v[i].device, v[i].segment, v[i].requester))->unanswerable == 0)
			v[n++] = v[i];
	}
	return n;
}
static_assert(PTT_FAULT_UNANSWERED < PTT_FAULT_EVICTED && PTT_FAULT_REUSED < PTT_FAULT_EVICTED,
	      "as fault_filter() asks");

void fault_forget(struct ptt_stats *s)
{
	for (unsigned f = 0; f <= PTT_FAULT_EVICTED; f++)
		s->nfaults[f] = fault_filter(s, s->fault[f], s->nfaults[f]);
	s->nerrors = fault_filter(s, s->error, s->nerrors);
}

/* ---- for the report ---------------------------------------------------------------------------------------- */

static int by_kind(const void *a, const void *b)
{
	const struct ptt_fault_row *x = a, *y = b;

	if (x->fault != y->fault)
		return x->fault < y->fault ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static int by_weight(const void *a, const void *b)
{
	const struct ptt_fault_row *x = a, *y = b;

	return x->nth != y->nth ? (x->nth < y->nth ? -1 : 1) : by_kind(a, b);
}

static bool may_be_under_way(const struct ptt_stats *s, const struct ptt_fault_row *row)
{
	return row->fault == PTT_FAULT_UNANSWERED &&
	       s->device[row->device < PTT_STATS_DEVICES ? row->device : 0].clock.now - row->time <= s->latency.most;
}

/* v are all of a kind that were kept. */
static void fault_number(const struct ptt_stats *s, struct ptt_fault_row *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = v[i].nth = 0; k < i; k++)
			v[i].nth += fault_is_of(&v[k], &v[i]);
		if (may_be_under_way(s, &v[i]))
			v[i].nth = UINT8_MAX;
	}
}

uint32_t fault_rank(struct ptt_stats *s, struct ptt_fault_row *to)
{
	uint32_t n = 0;

	for (unsigned f = 0; f < PTT_FAULTS; f++) {
		fault_number(s, s->fault[f], s->nfaults[f]);
		memcpy(to + n, s->fault[f], s->nfaults[f] * sizeof(*to));
		n += s->nfaults[f];
	}
	qsort(to, n, sizeof(*to), by_weight);
	return n;
}

void fault_sort_all(struct ptt_stats *s)
{
	if (s->nerrors > 1)
		qsort(s->error, s->nerrors, sizeof(*s->error), by_kind);
}

void fault_rare(struct ptt_stats *s, const struct tlp *t, const struct ptt_pair *pair)
{
	static const uint8_t by_status[8] = {
		PTT_FAULTS,   PTT_FAULT_UR,     PTT_FAULT_CRS,    PTT_FAULT_STATUS,
		PTT_FAULT_CA, PTT_FAULT_STATUS, PTT_FAULT_STATUS, PTT_FAULT_STATUS,
	};
	if (t->status != 0)
		fault_add(s, (enum ptt_fault)by_status[t->status], t, pair);
	if (t->ep && t->class != TLP_RESERVED) /* whether that bit is poison in what nobody knows, nobody knows */
		fault_add(s, PTT_FAULT_POISONED, t, pair);
}

void message_keep(struct ptt_stats *s, const struct ptt_message_row *row)
{
	struct ptt_message_row *v = s->message;
	uint32_t i = s->nmessages;

	while (i > 0 && v[i - 1].offset > row->offset)
		i--;
	if (i == PTT_STATS_LOG)
		return;
	s->nmessages += s->nmessages < PTT_STATS_LOG;
	memmove(&v[i + 1], &v[i], (s->nmessages - i - 1) * sizeof(*v));
	v[i] = *row;
}

void message_add(struct ptt_stats *s, const struct tlp *t)
{
	s->message_code[t->code]++;
	message_keep(s, &(struct ptt_message_row){ .time = t->time,
						   .offset = t->offset,
						   .device = t->device,
						   .requester = t->requester,
						   .code = t->code,
						   .route = t->route });
}
