/*
 * stats_match.c: what becomes of requests: latencies, the level of outstanding
 * requests, and what match.c calls unexpected, reused and evicted.
 *
 * Latency is that of requests that went well: an error comes back from the
 * nearest switch and would only hide how slow memory is.
 */
#include "ptt/decode_inline.h"
#include "ptt/match_int.h"
#include "ptt/stats_int.h"

/* Of a request that was given up at `time`: its answer, if one comes, is an unexpected completion or another's. */
static void count_given_up(struct ptt_stats *s, struct stats_device *d, const struct ptt_pair *pair, uint64_t time,
			   bool evicted)
{
	const struct tlp *t = &pair->request;
	const bool broken = !evicted && hides_answers(d) && pair->t.completions != 0;
	struct stats_requester *r = requester_at(s, requester_key(t->device, t->segment, t->requester));

	r->given_up++;
	r->evicted += evicted;
	r->outstanding--;
	level_drop(s, d, r, time);
	s->broken += broken;
	if (broken || (!evicted && r->heard && !hides_answers(d)))
		break_sign(s, t, true, false);
	track_fault(s, r, evicted ? PTT_FAULT_EVICTED : PTT_FAULT_REUSED);
}

void count_request(struct ptt_stats *s, struct stats_device *d, struct stats_requester *r, enum ptt_event what,
		   const struct tlp *t, const struct ptt_pair *given_up)
{
	if (given_up != NULL) {
		struct stats_device *other = device_at(s, given_up->request.device);
		count_given_up(s, other, given_up, other == d ? t->time : other->clock.now, what == PTT_EVICTED);
		if (!hides_answers(other))
			fault_add(s, what == PTT_REUSED ? PTT_FAULT_REUSED : PTT_FAULT_EVICTED, t, given_up);
	}
	s->requests++;
	if (++r->outstanding > r->peak)
		r->peak = r->outstanding;
	if (hides_answers(d)) {
		r->heard = true;
		return;
	}
	if (!r->heard) {
		unheard_open(s, d, r, t->time);
		return;
	}
	bin_at(s, d, t->time)->opened++;
	level_add(s, d, t->time, 1);
}

void count_latency(struct ptt_stats *s, struct ptt_bin *b, struct stats_requester *r, struct stats_completer *c,
		   const struct ptt_pair *p)
{
	const struct tlp_transaction *x = &p->t;

	r->answered++;
	if (x->status != 0) {
		s->failed_requests++;
		r->failed++;
		return;
	}
	uint32_t pieces = x->completions < 16 ? x->completions : 16;
	s->pieces[pieces] += s->kind[p->request.type_index] == PTT_READ;
	b->latency[x->latency != 0 ? 63 - __builtin_clzll(x->latency) : 0]++;
	hist_put(&s->latency_first, x->latency_first, hist_bucket(x->latency_first));
	uint32_t bucket = hist_bucket(x->latency);
	if ((r->latency == NULL && (r->latency = hist_new(s)) == NULL) ||
	    (c->latency == NULL && (c->latency = hist_new(s)) == NULL))
		return;
	hist_put(r->latency, x->latency, bucket);
	hist_put(c->latency, x->latency, bucket);
}

/* Where answers are hidden its request may have been answered long before. */
void count_misfit(struct ptt_stats *s, struct stats_device *d, const struct tlp *request, uint64_t offset)
{
	struct tlp completion = *request;

	completion.offset = offset;
	s->misfits++;
	if (!hides_answers(d))
		break_sign(s, request, true, true);
	break_sign(s, &completion, false, true);
}

void count_done(struct ptt_stats *s, struct stats_device *d, struct stats_requester *r, uint64_t time,
		const struct ptt_pair *p)
{
	struct ptt_bin *b = bin_at(s, d, time);

	s->answered++;
	b->done++;
	r->outstanding--;
	if (hides_answers(d))
		level_answered(s, d, p->request.time, time);
	else
		level_add(s, d, time, -1);
	count_latency(s, b, r, completer_at(s, completer_key(p->request.device, p->completer)), p);
}

const struct ptt_pair *count_matched(struct ptt_stats *s, struct stats_device *d, const struct tlp *t,
				     struct stats_requester *r, bool *second)
{
	uint64_t key = match_key(t->device, t->segment, t->requester, t->tag);
	const struct ptt_pair *pair = NULL;

	*second = t->class == TLP_NP && match_duplicate(s->match, key, t);
	if (*second) {
		if (r->heard || r->unheard == NULL || unheard_duplicate(s, r, t))
			count_back(s, d, r, t);
		return NULL;
	}
	if (t->class == TLP_NP) {
		struct tlp *where;
		enum ptt_event what = match_request(s->match, key, &where, &pair);
		*where = *t;
		r->doubts += s->match->doubt;
		count_request(s, d, r, what, t, pair);
		return NULL;
	}
	const struct match_answer a = match_answer_of(t);
	enum ptt_event what = match_completion(s->match, key, &a, &pair);
	if (!r->heard && (what == PTT_DONE || what == PTT_NONE))
		unheard_answered(s, d, r, t->time);
	switch (what) {
	case PTT_DONE:
		count_done(s, d, r, t->time, pair);
		if (match_is_misfit(match_slot_of(pair)))
			count_misfit(s, d, &pair->request, t->offset);
		return pair;
	case PTT_UNEXPECTED_CPL:
		if (d->coverage & PTT_COVERAGE_NO_REQUESTS)
			d->requestless++;
		else {
			fault_add(s, PTT_FAULT_UNEXPECTED_CPL, t, NULL);
			break_sign(s, t, false, false);
		}
		return NULL;
	case PTT_DUPLICATE:
		*second = true;
		count_back(s, d, r, t);
		return NULL;
	case PTT_AFTER_GAP:
		*(d->coverage & PTT_COVERAGE_NO_REQUESTS ? &d->requestless : &s->after_gap) += 1;
		return NULL;
	default:
		return NULL;
	}
}

/* ---- where records are missing ------------------------------------------------------------------------------- */

struct cut {
	struct ptt_stats *s;
	struct stats_device *d;
	uint64_t heard;
};

static void count_cut(void *arg, const struct ptt_pair *p)
{
	struct cut *c = arg;
	const struct tlp *q = &p->request;
	struct stats_requester *r = requester_at(c->s, requester_key(q->device, q->segment, q->requester));

	r->cut++;
	r->outstanding--;
	c->heard += r->heard && !hides_answers(c->d);
	if (r->heard && r->latency != NULL && c->d->clock.now - q->time > r->latency->most && !hides_answers(c->d))
		break_sign(c->s, q, true, false); /* its answer was due long before */
	level_drop(c->s, c->d, r, c->d->clock.now);
}

/* The time of the first record behind it, where Time counts on and tells more than a rest. */
static uint64_t gap_until(const struct stats_device *d, const struct ptt_chunk *c, uint8_t time)
{
	if (c->n < 4 * PTT_8DW || c->format != PTT_8DW || time != PTT_TIME_ABS || !d->clock.started || d->ahead)
		return 0;
	const uint32_t step = ptt_le32(c->p + 28) - d->clock.last;
	return step >> 31 ? 0 : d->clock.now + step;
}

/* Each shard cuts what it has open; one of them keeps the row, to which the others' are added by ptt_stats_merge(). */
void count_gap(struct ptt_stats *s, struct stats_device *d, const struct ptt_chunk *c, uint8_t time)
{
	struct cut arg = { s, d, 0 };

	if (s->match != NULL)
		s->cut += ptt_match_gap(s->match, c->device, count_cut, &arg);
	if (c->gap.why == PTT_GAP_BROKEN_END && s->ngaps > 0 && s->gap[s->ngaps - 1].device == c->device) {
		s->gap[s->ngaps - 1].cut += arg.heard;
		s->gap[s->ngaps - 1].until = gap_until(d, c, time);
	}
	if (c->gap.why == PTT_GAP_TRUNCATED_END || c->gap.why == PTT_GAP_BROKEN_END)
		return;
	if (s->ngaps < PTT_STATS_LOG)
		s->gap[s->ngaps++] = (struct ptt_gap_row){ .time = d->clock.started ? d->clock.now : 0,
							   .offset = c->offset,
							   .bytes = c->gap.bytes,
							   .passed = c->gap.passed,
							   .cut = arg.heard,
							   .until = gap_until(d, c, time),
							   .device = c->device,
							   .why = c->gap.why };
	s->place_unknown |= c->gap.why == PTT_GAP_BROKEN_OFF || c->gap.why == PTT_GAP_CUT_SOMEWHERE;
	d->gaps++;
	s->gap_bytes += c->gap.bytes;
	s->gap_bytes -= c->gap.late < s->gap_bytes ? c->gap.late : s->gap_bytes;
}

static void stats_unanswered(void *arg, const struct ptt_pair *p)
{
	struct ptt_stats *s = arg;
	const struct tlp *q = &p->request;
	struct stats_requester *r = requester_at(s, requester_key(q->device, q->segment, q->requester));
	const struct stats_device *d = device_at(s, q->device);
	const uint64_t age = d->clock.now - q->time;

	r->outstanding--;
	if (d->late) { /* and its answer may have been */
		r->cut++;
		s->cut++;
		return;
	}
	r->unanswered++;
	uint64_t *oldest = r->heard || r->unheard == NULL ? &s->oldest : &r->unheard->oldest;
	if (age > *oldest && (!hides_answers(d) || p->t.completions != 0))
		*oldest = age;
	if (hides_answers(d))
		return;
	track_fault(s, r, PTT_FAULT_UNANSWERED);
	fault_add(s, PTT_FAULT_UNANSWERED, q, p);
	if (r->heard) {
		ptt_hist_add(&s->open_age, age);
		break_sign(s, q, true, false);
	}
}

/* Of a request that was seen twice, and not its completions, nor at the end. */
static void stats_doubt(void *arg, uint64_t key, uint64_t since)
{
	struct ptt_stats *s = arg;
	const uint32_t device = match_key_device(key);
	struct stats_requester *r =
		requester_at(s, requester_key(device, match_key_segment(key), match_key_requester(key)));
	const uint64_t age = device_at(s, device)->clock.now - since;

	r->doubt_age = age > r->doubt_age ? age : r->doubt_age;
}

static bool stats_has_duplicates(const struct ptt_stats *s)
{
	for (uint32_t i = 0; i < PTT_STATS_DEVICES; i++)
		if (s->device[i].duplicates != 0)
			return true;
	return false;
}

#define SILENT_LEAST 16u /* requests without any answer that are no chance */

static void settle_unheard(struct ptt_stats *s)
{
	for (uint32_t i = 0; i <= PTT_STATS_ROWS; i++)
		if (s->requester[i].unheard != NULL)
			unheard_settle(s, &s->requester[i], s->device[s->requester[i].unheard->device].clock.now);
}

/* A host's requests pass one port, so none was a duplicate: each asked anew with a tag whose answer the trace does not
 * show. Returns how many. */
static uint64_t count_all_again(struct ptt_stats *s, struct stats_requester *r)
{
	const struct stats_unheard *q = r->unheard;

	for (uint32_t i = 0; i < q->nagain; i++)
		count_again(s, &s->device[q->device], r, &q->again[i]);
	return q->nagain + q->more;
}

/* Its requests that were not answered can't be in this trace. */
static void set_apart(struct ptt_stats *s, struct stats_requester *r)
{
	uint64_t n = r->unanswered + r->given_up + r->cut;

	s->requests -= n;
	n += r->unheard != NULL ? count_all_again(s, r) : 0;
	s->unanswerable += n;
	s->cut -= r->cut;
	if (r->unheard != NULL) {
		s->fault_count[PTT_FAULT_UNANSWERED] -= r->unanswered;
		s->fault_count[PTT_FAULT_EVICTED] -= r->evicted;
		s->fault_count[PTT_FAULT_REUSED] -= r->given_up - r->evicted;
		track_forget_faults(s, r->unheard);
	}
	r->unanswerable = n;
	r->doubts = r->doubt_age = 0; /* they were counted again */
	r->unanswered = r->given_up = r->cut = 0;
	r->peak = 0;
}

/* Whether on its bus somebody completes what devices ask, who is no device himself: those are seen completing at both
 * their ports, but where one of the two records is missing. */
static bool is_on_hosts_bus(const struct ptt_stats *s, uint32_t row)
{
	const uint64_t key = row < s->requesters.n ? s->requesters.of_row[row] : 0;

	for (uint32_t i = 0; row < s->requesters.n && i < s->completers.n; i++) {
		const struct stats_completer *c = &s->completer[i];
		const uint64_t of = s->completers.of_row[i];
		uint64_t completions = 0;

		for (unsigned k = 0; k < COUNT(c->status); k++)
			completions += c->status[k];
		if (of >> 16 == key >> 32 && (uint8_t)(of >> 8) == (uint8_t)(key >> 8) &&
		    2 * c->duplicates <= completions)
			return true;
	}
	return false;
}

/* Only a host requests configuration. Where one does, it has its bus; else completers tell. */
static bool is_hosts(const struct ptt_stats *s, uint32_t row)
{
	const uint64_t key = row < s->requesters.n ? s->requesters.of_row[row] : 0;
	bool known = false;

	if (s->requester[row].config)
		return true;
	for (uint32_t i = 0; i < s->requesters.n; i++) {
		const uint64_t of = s->requesters.of_row[i];
		if (s->requester[i].config == 0 || of >> 32 != key >> 32)
			continue;
		if (of >> 8 == key >> 8)
			return true;
		known = true;
	}
	return !known && is_on_hosts_bus(s, row);
}

/*
 * Of a requester none of whose requests was answered: whether their completions go where the trace can't show them.
 * Those of the host do in direction 2 of 4DW, and those of devices in direction 3.  Where no event is known they may be
 * missing too, but few requests are no proof then.  A device that nobody answers is no host, however often it asks.
 * Where no completion was seen at all, nobody is told apart.
 */
static bool is_unanswerable(const struct ptt_stats *s, uint32_t row)
{
	const struct stats_requester *r = &s->requester[row];
	const uint8_t coverage = s->device[r->unheard->device].coverage;
	const struct stats_unheard *q = r->unheard;
	const bool often = q->requests + q->nagain + q->more >= SILENT_LEAST,
		   host = r->config || is_on_hosts_bus(s, row);

	if (coverage & PTT_COVERAGE_NO_PEERS)
		return !is_hosts(s, row) && (often || s->completers.n != 0);
	if (coverage & PTT_COVERAGE_KNOWN)
		return coverage & PTT_COVERAGE_DUPLICATES && (host || (often && s->completers.n == 0));
	return often && (host || s->completers.n == 0);
}

void stats_mark_unanswerable(struct ptt_stats *s)
{
	for (uint32_t i = 0; i <= PTT_STATS_ROWS; i++) {
		struct stats_requester *r = &s->requester[i];

		if (hides_answers(device_of_row(s, i)))
			set_apart(s, r);
		if (r->unheard == NULL)
			continue;
		if (is_unanswerable(s, i)) {
			set_apart(s, r);
			continue;
		}
		struct stats_device *d = &s->device[r->unheard->device];
		s->oldest = r->unheard->oldest > s->oldest ? r->unheard->oldest : s->oldest;
		unheard_fold(s, r);
		d->peak = r->peak > d->peak ? r->peak : d->peak;
	}
	fault_forget(s);
}

void stats_settle(struct ptt_stats *s)
{
	if (s->settled)
		return;
	s->settled = true;
	for (uint32_t i = 0; i < PTT_STATS_DEVICES; i++)
		if (s->device[i].level != 0)
			level_add(s, &s->device[i], s->device[i].clock.now, 0);
	settle_unheard(s);
	if (s->match != NULL)
		ptt_match_rest(s->match, stats_unanswered, s);
	if (s->match != NULL && stats_has_duplicates(s))
		match_doubts(s->match, stats_doubt, s);
	cells_settle(s);
	if (s->track != NULL)
		track_settle(s);
	for (uint32_t i = 0; i <= PTT_STATS_ROWS; i++)
		if (s->requester[i].latency != NULL)
			ptt_hist_merge(&s->latency, s->requester[i].latency);
}
