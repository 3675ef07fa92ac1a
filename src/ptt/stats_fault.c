/*
 * stats_fault.c: what went wrong, and messages: all are counted, the first of
 * each kind are kept, in the order of the file.  A shard may learn of an
 * earlier one later, so rows are put where they belong by their offset.
 */
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
		[PTT_FAULT_ORPHAN] = "completion without a request",
		[PTT_FAULT_REUSED] = "tag reused while open",
		[PTT_FAULT_CROWDED] = "given up: too many outstanding",
		[PTT_FAULT_RESERVED] = "reserved type",
	};
	return (unsigned)f < PTT_FAULTS ? names[f] : "?";
}

void fault_keep(struct ptt_stats *s, const struct ptt_fault_row *row)
{
	struct ptt_fault_row *v = s->fault[row->fault];
	uint32_t *n = &s->nfaults[row->fault], i = *n;

	while (i > 0 && v[i - 1].offset > row->offset)
		i--;
	if (i == PTT_STATS_LOG)
		return;
	*n += *n < PTT_STATS_LOG;
	memmove(&v[i + 1], &v[i], (*n - i - 1) * sizeof(*v));
	v[i] = *row;
}

void fault_add(struct ptt_stats *s, enum ptt_fault f, const struct tlp *t, const struct ptt_pair *pair)
{
	struct ptt_fault_row row = {
		.fault = (uint8_t)f, .time = t->time, .offset = t->offset, .device = t->device, .tag = t->tag,
		.segment = t->segment, .requester = t->requester, .completer = t->completer,
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
	fault_keep(s, &row);
}

void fault_forget(struct ptt_stats *s)
{
	static const uint8_t kinds[] = { PTT_FAULT_UNANSWERED, PTT_FAULT_REUSED, PTT_FAULT_CROWDED };

	for (unsigned k = 0; k < COUNT(kinds); k++) {
		struct ptt_fault_row *v = s->fault[kinds[k]];
		uint32_t n = 0;

		for (uint32_t i = 0; i < s->nfaults[kinds[k]]; i++)
			if (requester_at(s, requester_key(v[i].device, v[i].segment, v[i].requester))->unanswerable == 0)
				v[n++] = v[i];
		s->nfaults[kinds[k]] = n;
	}
}

void fault_rare(struct ptt_stats *s, const struct tlp *t, const struct ptt_pair *pair)
{
	static const uint8_t by_status[8] = {
		PTT_FAULTS, PTT_FAULT_UR, PTT_FAULT_CRS, PTT_FAULT_STATUS,
		PTT_FAULT_CA, PTT_FAULT_STATUS, PTT_FAULT_STATUS, PTT_FAULT_STATUS,
	};
	if (t->status != 0)
		fault_add(s, (enum ptt_fault)by_status[t->status], t, pair);
	if (t->ep && t->class != TLP_RESERVED)        /* whether that bit is poison in what nobody knows, nobody knows */
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
	message_keep(s, &(struct ptt_message_row){ .time = t->time, .offset = t->offset, .device = t->device,
						   .requester = t->requester, .code = t->code, .route = t->route });
}
