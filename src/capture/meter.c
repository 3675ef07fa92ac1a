/*
 * meter.c: packets of a trace, counted for as long as they come.
 *
 * A report (ptt/stats.h) is made once, when all is there; a meter is read at any time, and never ends.  So it keeps
 * counts alone: packets and bytes by requester and type, latencies by powers of two, and what is lost, by cause.  That
 * is at most 1,025 requesters of 35 types, 10 MB, and the requests that are open, whatever comes.
 *
 * A direction may not show completions of some requests, such as those of a host, and nothing in a record tells whose.
 * So until a request of a requester was answered, what it gives up counts as hidden, not as unmatched, and a request
 * that it repeats, as a host does that polls a register, is no second record of one packet.
 *
 * Of posted requests nothing tells which are second records of one packet, so all are counted, and how many may be such
 * is counted beside them (ptt/twice.c).
 *
 * Requests meet completions in ptt/match.c, as everywhere.  Records are missing where the device says so, and where
 * bytes make no record: what is open there is cut, so no latency spans it.  Records of 8DW begin with a marker, and
 * those without one are passed over, up to the next; 4DW has none, so nothing tells of damage there.
 *
 * Refuses nothing: all bytes are some record, or are counted as none.
 */
#include <string.h>

#include "capture/meter_int.h"
#include "ptt/decode_inline.h"
#include "ptt/rule.h"

/* ---- life --------------------------------------------------------------------------------- */

int meter_open(struct meter **ret, uint64_t config, enum ptt_time time, uint32_t most_outstanding)
{
	const enum ptt_format format = (enum ptt_format)ptt_config_format(config);
	struct meter *m = mem_alloc(sizeof(*m));

	if (!m)
		return -TALLY_ENOMEM;
	m->how = (struct ptt_decode_opts){ .format = (uint8_t)format, .time = (uint8_t)time };
	m->is_sure = true;
	m->coverage = ptt_config_coverage(config, format);
	if (ptt_match_open(&m->match, most_outstanding) < 0 ||
	    (m->coverage & PTT_COVERAGE_DUPLICATES && ptt_twice_open(&m->twice) < 0)) {
		meter_close(m);
		return -TALLY_ENOMEM;
	}
	ptt_match_twice(m->match, 0, m->coverage & PTT_COVERAGE_DUPLICATES);
	*ret = m;
	return 0;
}

void meter_close(struct meter *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i <= METER_REQUESTERS; i++) {
		for (uint32_t k = 0; m->row[i] && k < METER_TYPES; k++)
			mem_free(m->row[i]->type[k].answers);
		mem_free(m->row[i]);
	}
	ptt_match_close(m->match);
	ptt_twice_close(m->twice);
	mem_free(m);
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* NULL: memory is out. */
static struct meter_requester *meter_row_of(struct meter *m, uint16_t requester)
{
	uint32_t i = m->place[requester];

	i = i ? i - 1 : m->rows;
	if (!m->row[i]) {
		m->row[i] = mem_alloc(sizeof(*m->row[i]));
		if (!m->row[i])
			return NULL;
		m->row[i]->id = requester;
	}
	if (i == m->rows && i < METER_REQUESTERS) {
		m->rows++;
		m->place[requester] = (uint16_t)(i + 1);
	}
	return m->row[i];
}

/* A request that was seen has a row. */
static struct meter_requester *meter_row_of_request(struct meter *m, const struct tlp *request)
{
	const uint32_t i = m->place[request->requester];

	return m->row[i ? i - 1 : METER_REQUESTERS];
}

static int meter_add_answer(struct meter *m, const struct ptt_pair *pair)
{
	const uint64_t ticks = pair->t.latency;
	const uint32_t bits = ticks ? 64 - (uint32_t)__builtin_clzll(ticks) : 0;
	struct meter_requester *r = meter_row_of_request(m, &pair->request);
	struct meter_cell *c = &r->type[pair->request.type_index];
	struct meter_answers *a = c->answers;

	if (!a)
		a = c->answers = mem_alloc(sizeof(*a));
	if (!a)
		return -TALLY_ENOMEM;
	r->is_heard = true;
	r->open--;
	if (pair->t.status) {
		a->failed[pair->t.status % METER_STATUSES]++;
		return 0;
	}
	a->n++;
	a->sum += ticks;
	a->bucket[bits < METER_BUCKETS ? bits : METER_BUCKETS - 1]++;
	return 0;
}

/* A request that won't meet its completion, if there is one. */
static void meter_give_up(struct meter *m, const struct ptt_pair *pair, enum meter_count cause)
{
	struct meter_requester *r = meter_row_of_request(m, &pair->request);

	r->open--;
	m->count[r->is_heard ? cause : METER_hidden]++;
}

static void meter_cut_pair(void *arg, const struct ptt_pair *pair)
{
	meter_give_up(arg, pair, METER_cut);
}

const int64_t *meter_buckets(void)
{
#define LAST(b) (INT64_C(1) << (b)) - 1
#define LASTS(b) LAST(b), LAST((b) + 1), LAST((b) + 2), LAST((b) + 3), LAST((b) + 4), LAST((b) + 5), LAST((b) + 6)
	static const int64_t last[] = { LASTS(0),  LASTS(7),  LASTS(14), LASTS(21), LASTS(28),
					LASTS(35), LASTS(42), LASTS(49), LASTS(56) };
#undef LASTS
#undef LAST

	static_assert(COUNT(last) == METER_BUCKETS - 1, "the last bucket has no end");
	return last;
}

uint64_t meter_bytes_held(const struct meter *m)
{
	uint64_t n = sizeof(*m);

	for (uint32_t i = 0; i <= METER_REQUESTERS; i++) {
		n += m->row[i] ? sizeof(*m->row[i]) : 0;
		for (uint32_t k = 0; m->row[i] && k < METER_TYPES; k++)
			n += m->row[i]->type[k].answers ? sizeof(*m->row[i]->type[k].answers) : 0;
	}
	return n;
}

/* ---- records --------------------------------------------------------------------------------- */

void meter_gap(struct meter *m)
{
	m->count[METER_gaps]++;
	m->count[METER_damaged_bytes] += m->ntail;
	m->ntail = 0;
	(void)ptt_match_gap(m->match, 0, meter_cut_pair, m);
}

/* r: of the record that it came of. Completions whose requests the event's direction can't show are no loss. */
static int meter_take_event(struct meter *m, struct meter_requester *r, bool is_request, enum ptt_event what,
			    const struct ptt_pair *pair)
{
	const bool lacks_requests = m->coverage & PTT_COVERAGE_NO_REQUESTS;

	switch (what) {
	case PTT_OPENED:
		r->open++;
		return 0;
	case PTT_DONE:
		return meter_add_answer(m, pair);
	case PTT_REUSED:
	case PTT_EVICTED:
		r->open++;
		meter_give_up(m, pair, what == PTT_REUSED ? METER_reused : METER_evicted);
		return 0;
	case PTT_UNEXPECTED_CPL:
		m->count[lacks_requests ? METER_requestless : METER_unexpected]++;
		return 0;
	case PTT_AFTER_GAP:
		m->count[lacks_requests ? METER_requestless : METER_after_gap]++;
		return 0;
	case PTT_DUPLICATE:
		m->count[METER_hidden] += is_request;
		return 0;
	case PTT_NONE:
		return 0;
	}
	return 0;
}

static int meter_take_record(struct meter *m, const uint8_t *p, const uint8_t *end)
{
	struct meter_requester *r;
	struct ptt_pair pair;
	enum ptt_event what;
	struct tlp t = { 0 };

	if (ptt_le32(p) == 0 && ptt_is_padding(p, (enum ptt_format)m->how.format))
		return 0;
	ptt_decode_in_inline(p, end, &m->how, &m->clock, &t);
	m->records++;
	what = ptt_match_next(m->match, &t, &pair);
	r = meter_row_of(m, t.requester);
	if (!r)
		return -TALLY_ENOMEM;
	if (what == PTT_DUPLICATE && r->is_heard) {
		m->count[METER_duplicates]++;
		return 0;
	}
	if (m->twice && (t.type_index == TLP_ROW_MWr32 || t.type_index == TLP_ROW_MWr64))
		r->type[t.type_index].twice += ptt_twice_next(m->twice, p, 0);
	r->type[t.type_index].packets++;
	r->type[t.type_index].bytes += t.bytes;
	return meter_take_event(m, r, t.class == TLP_NP, what, &pair);
}

/* Whether a record is at p; where none is, the bytes up to one are damaged. */
static bool meter_is_record(struct meter *m, const uint8_t *p)
{
	const bool is = m->how.format == PTT_4DW || ptt_is_marker(ptt_le32(p)) || ptt_is_padding(p, PTT_8DW);

	if (!is && !m->is_damaged)
		meter_gap(m);
	m->is_damaged = !is;
	return is;
}

/* As many bytes as are whole records, or none; how many are left, or negative. */
static int64_t meter_take_bytes(struct meter *m, const uint8_t *p, size_t n)
{
	const size_t size = 4u * m->how.format;
	const uint8_t *const end = p + n / 4 * 4;
	int rc = 0;

	while (rc >= 0 && (size_t)(end - p) >= size) {
		if (meter_is_record(m, p)) {
			rc = meter_take_record(m, p, end - (size_t)(end - p) % size);
			p += size;
		} else {
			m->count[METER_damaged_bytes] += 4;
			p += 4;
		}
	}
	return rc < 0 ? rc : (int64_t)(end - p + n % 4);
}

/* The rest of what was left of the last bytes comes first. */
static int meter_take_tail(struct meter *m, const uint8_t **p, size_t *n)
{
	const size_t size = 4u * m->how.format;
	int64_t left;

	while (m->ntail && *n) {
		const size_t more = size - m->ntail < *n ? size - m->ntail : *n;

		memcpy(m->tail + m->ntail, *p, more);
		m->ntail += (uint32_t)more;
		*p += more;
		*n -= more;
		if (m->ntail < size)
			return 0;
		m->ntail = 0; /* a gap finds none */
		left = meter_take_bytes(m, m->tail, size);
		if (left < 0)
			return (int)left;
		memmove(m->tail, m->tail + size - left, (size_t)left);
		m->ntail = (uint32_t)left;
	}
	return 0;
}

int meter_take(struct meter *m, const struct ptt_aux *a)
{
	const uint8_t *p = a->p;
	size_t n = a->n;
	int64_t left;
	int rc;

	m->count[METER_lost_records] += a->lost;
	if (a->lost || a->flags & PTT_AUX_TRUNCATED)
		meter_gap(m);
	if (!n)
		return 0;
	if (m->how.time == PTT_TIME_AUTO)
		m->how.time = (uint8_t)ptt_time_guess(p, n, (enum ptt_format)m->how.format, &m->is_sure);
	rc = meter_take_tail(m, &p, &n);
	if (rc < 0 || !n)
		return rc;
	left = meter_take_bytes(m, p, n);
	if (left < 0)
		return (int)left;
	memcpy(m->tail, p + n - left, (size_t)left);
	m->ntail = (uint32_t)left;
	return 0;
}
