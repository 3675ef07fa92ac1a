/*
 * splice.c: where whole records were cut out of AUX data.
 *
 * Such a cut leaves sound records on both sides of it. Requests and completions show the place: requests before the
 * cut are never answered, or by something that is no answer to them; completions after it have no request; and no
 * request before it is answered after it. So each transaction that is seen whole is evidence against all places
 * between its request and its last completion. Each lone request or completion is evidence for the places within a
 * flight of it: the largest number of records that a transaction takes. The place with the most evidence is chosen;
 * of several the one with the longest step of Time. If Time jumps at one place only, that is the place.
 *
 * There are two callers. If the size of AUX data shows that bytes are missing, only the place is searched for, and a
 * request that was answered far too late counts as unanswered: its tag was used again in the cut. If nothing shows a
 * loss, only 8DW records with absolute Time are searched: every 16th of them, and closely only where Time jumps.
 * There completions without requests must be the rule after the jump and hardly occur elsewhere, and hardly any
 * request may be answered across it. A pause of the traffic and a device that fails to answer do not look so.
 *
 * A search is bounded by a window of bytes, and memory is allocated only for a search.
 */
#include <stdlib.h>

#include "ptt/decode_inline.h"
#include "ptt/pdata_int.h"

enum {
	ASKED = 1 << 16,    /* requesters and tags */
	FLIGHT_LEAST = 64,  /* records */
	FLIGHT_MOST = 4096, /* of a search around a jump, to either side, too */
	STRIDE = 16,        /* records from one look at Time to the next */
	JUMPS_MOST = 256,   /* of a chunk, that are looked at closely */
	NEAR = 64,          /* records behind a jump, in which completions are looked at */
	OTHERS_FEW = 8,     /* unexpected completions elsewhere that hardly ever stand together */
	LATE = 4,           /* times a high latency: what tells an answer from another one's */
	JUMP = 8,           /* times the second longest step: the longest is where records are missing */
};

/* What a requester and tag are about. */
struct asked {
	uint64_t key;     /* 0: nobody */
	uint64_t address; /* of the request */
	uint32_t at;      /* its record */
	uint32_t left;    /* bytes that its next completion must say; 0: whatever it says */
	uint32_t lower, length_dw;
	uint32_t pieces; /* completions; of one that is over those whose duplicates may still come */
	bool open, second;
};
enum span_of { WHOLE, UNANSWERED, UNEXPECTED, FORGOTTEN };
/* Of records [from, to]: a request, and what it ended with. Of an unexpected completion only `to` is known. */
struct span {
	uint32_t from, to;
	uint16_t requester;
	uint8_t of; /* enum span_of */
	bool late;  /* UNANSWERED: what answered it was somebody else's */
};
struct search {
	const uint8_t *p;
	uint32_t n; /* records */
	struct ptt_decode_opts o;
	bool counts, twice; /* Time counts on; packets may be there twice */
	struct asked *asked;
	uint32_t nasked;
	struct span *span;
	uint32_t nspans, flight;
};

static bool search_open(struct search *s, const uint8_t *p, size_t n, const struct splice_how *how)
{
	*s = (struct search){ .p = p,
			      .n = (uint32_t)(n / (how->format * 4u)),
			      .o = { .format = how->format, .time = PTT_TIME_DELTA, .tag14 = how->tag14 },
			      .counts = how->counts && how->format == PTT_8DW,
			      .twice = how->twice };
	s->asked = mem_alloc(ASKED * sizeof(*s->asked));
	s->span = mem_alloc(((size_t)s->n * 2 + 1) * sizeof(*s->span));
	return s->asked && s->span;
}

static void search_close(struct search *s)
{
	mem_free(s->asked);
	mem_free(s->span);
}

static uint32_t search_time(const struct search *s, uint32_t i)
{
	return ptt_le32(s->p + (size_t)i * 32 + 28);
}

static void span_add(struct search *s, const struct tlp *t, uint32_t from, uint32_t to, enum span_of of)
{
	s->span[s->nspans++] = (struct span){ .from = from, .to = to, .requester = t->requester, .of = (uint8_t)of };
}

/* NULL: there is no room for another one. */
static struct asked *asked_of(struct search *s, const struct tlp *t)
{
	const uint64_t key = 1ull << 63 | (uint64_t)t->segment << 32 | (uint64_t)t->requester << 14 | (t->tag & 0x3fff);
	uint32_t i = (uint32_t)(key * 0x9e3779b97f4a7c15ull >> 48);

	static_assert(ASKED == 1 << 16, "the shift above");
	while (s->asked[i].key && s->asked[i].key != key)
		i = (i + 1) % ASKED;
	if (!s->asked[i].key && s->nasked == ASKED / 4 * 3)
		return NULL;
	s->nasked += !s->asked[i].key;
	s->asked[i].key = key;
	return &s->asked[i];
}

static void search_request(struct search *s, struct asked *a, const struct tlp *t, uint32_t i)
{
	const bool read = t->type_index == TLP_ROW_MRd32 || t->type_index == TLP_ROW_MRd64;

	if (s->twice && a->open && !a->second && a->address == t->address && a->length_dw == t->length_dw) {
		a->second = true;
		return;
	}
	if (a->open)
		span_add(s, t, a->at, i, UNANSWERED);
	*a = (struct asked){ .key = a->key,
			     .address = t->address,
			     .at = i,
			     .left = read ? ptt_read_bytes(t) : 0,
			     .lower = ((uint32_t)t->address + ptt_read_first(t)) & 0x7f,
			     .length_dw = t->length_dw,
			     .open = true };
}

static bool is_next_piece(const struct asked *a, const struct tlp *t)
{
	return a->left == 0 || t->status != 0 || t->bcm || (t->byte_count == a->left && t->lower_address == a->lower);
}

static void search_completion(struct search *s, struct asked *a, const struct tlp *t, uint32_t i)
{
	const bool last = t->status || t->bcm || t->bytes == 0 || t->byte_count <= t->bytes;

	if (a->open && is_next_piece(a, t)) {
		a->pieces++;
		a->left = a->left ? t->byte_count - t->bytes : 0;
		a->lower = (t->lower_address + t->bytes) & 0x7f;
		a->open = !last;
		if (last)
			span_add(s, t, a->at, i, WHOLE);
		return;
	}
	if (a->second && a->pieces && (!a->open || t->byte_count > a->left)) {
		a->pieces -= !a->open;
		return;
	}
	if (a->open)
		span_add(s, t, a->at, i, UNANSWERED);
	span_add(s, t, i, i, UNEXPECTED);
	a->open = false;
}

static int by_value(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* What 98 % of the whole spans' latencies are below, in ticks; UINT32_MAX when there are too few, or Time does not
 * count on. */
static uint32_t high_latency(const struct search *s)
{
	uint32_t *v = s->counts ? mem_alloc(((size_t)s->nspans + 1) * sizeof(*v)) : NULL, n = 0, high = UINT32_MAX;

	for (uint32_t i = 0; v && i < s->nspans; i++)
		if (s->span[i].of == WHOLE)
			v[n++] = search_time(s, s->span[i].to) - search_time(s, s->span[i].from);
	if (n >= 16) {
		qsort(v, n, sizeof(*v), by_value);
		high = v[n - n / 50 - 1];
	}
	mem_free(v);
	return high;
}

/* Whether an answer came far too late, and most of the time passed at once. */
static bool is_late(const struct search *s, const struct span *v, uint64_t most)
{
	const uint32_t took = search_time(s, v->to) - search_time(s, v->from);
	uint32_t i = v->from;

	if (took <= most)
		return false;
	while (i < v->to && search_time(s, i + 1) - search_time(s, i) <= took / 2)
		i++;
	return i < v->to;
}

/* Pairs requests with completions. `late`: what took far too long was somebody else's answer. */
static void search_pairs(struct search *s, bool late)
{
	struct ptt_clock none = { 0 };
	struct tlp t;

	for (uint32_t i = 0; i < s->n; i++) {
		struct asked *a;

		ptt_decode(s->p + (size_t)i * s->o.format * 4, &s->o, &none, &t);
		if ((t.class != TLP_NP && t.class != TLP_CPL) || (a = asked_of(s, &t)) == NULL)
			continue;
		(t.class == TLP_NP ? search_request : search_completion)(s, a, &t, i);
	}
	const uint32_t high = late ? high_latency(s) : UINT32_MAX;
	const uint64_t most = high == UINT32_MAX ? UINT64_MAX : (uint64_t)high * LATE;
	s->flight = FLIGHT_LEAST;
	for (uint32_t i = 0; i < s->nspans; i++) {
		struct span *v = &s->span[i];

		if (v->of == WHOLE && most != UINT64_MAX && is_late(s, v, most)) {
			v->of = UNANSWERED;
			v->late = true;
		}
		if (v->of == WHOLE && v->to - v->from > s->flight)
			s->flight = v->to - v->from;
	}
	s->flight = s->flight < FLIGHT_MOST ? s->flight : FLIGHT_MOST;
}

/* A host's own requests, whose answers go another way: what is seldom answered says nothing when it isn't. */
static void search_forget_silent(struct search *s)
{
	enum { REQUESTERS = 1 << 16 };
	int32_t *more = mem_alloc(REQUESTERS * sizeof(*more));

	for (uint32_t i = 0; more && i < s->nspans; i++)
		more[s->span[i].requester] += s->span[i].of == WHOLE ? 1 : s->span[i].of == UNANSWERED ? -4 : 0;
	for (uint32_t i = 0; more && i < s->nspans; i++)
		if (s->span[i].of == UNANSWERED && !s->span[i].late && more[s->span[i].requester] < 0)
			s->span[i].of = FORGOTTEN;
	mem_free(more);
}

/* ---- the place for which most speaks -------------------------------------------------------------------------- */

/* `weight` of each place behind record `from`, up to in front of record `to`. */
static void places_add(int32_t *change, uint32_t from, uint32_t to, int32_t weight)
{
	change[from + 1] += weight;
	change[to + 1] -= weight;
}

/* A place is told by the record behind it. 0: nothing speaks for one. Where requests stay unanswered everywhere
 * more of them must be near. */
static uint32_t search_best(const struct search *s, int32_t *most)
{
	int32_t *change = mem_alloc(((size_t)s->n + 2) * sizeof(*change)), sum = 0;
	uint32_t best = 0, step = 0;
	uint64_t unanswered = 0;

	*most = 2;
	for (uint32_t i = 0; i < s->nspans; i++)
		unanswered += s->span[i].of == UNANSWERED;
	*most += (int32_t)(4 * unanswered * s->flight / s->n);
	for (uint32_t i = 0; change && i < s->nspans; i++) {
		const struct span *v = &s->span[i];
		const uint32_t near = v->to - v->from > s->flight ? v->from + s->flight : v->to;

		if (v->of == WHOLE)
			places_add(change, v->from, v->to, -2);
		else if (v->of == UNANSWERED)
			places_add(change, v->from, near, v->late ? 2 : 1);
		else if (v->of == UNEXPECTED && v->to > s->flight)
			places_add(change, v->to - s->flight, v->to, 2);
	}
	for (uint32_t i = 1; change && i < s->n; i++) {
		sum = change[i] += sum;
		if (sum <= *most)
			continue;
		*most = sum;
		best = i;
	}
	for (uint32_t i = best > s->flight ? best - s->flight : 1, at = best; s->counts && at && i < s->n; i++) {
		const uint32_t here = search_time(s, i) - search_time(s, i - 1);

		if (i > at + s->flight)
			break;
		if (change[i] < *most / 2 || here >> 31 || here <= step)
			continue;
		step = here;
		best = i;
	}
	mem_free(change);
	return best;
}

/* The longest two steps of Time so far, and the record behind the longest. */
struct longest {
	uint32_t most, second;
	uint64_t at;
};

static void longest_take(struct longest *l, const struct search *s, uint64_t at)
{
	for (uint32_t i = 1; s->counts && i < s->n; i++) {
		const uint32_t step = search_time(s, i) - search_time(s, i - 1);
		const uint64_t here = at + (uint64_t)i * 32;

		if (step >> 31 || here == l->at)
			continue;
		if (step > l->most)
			*l = (struct longest){ step, l->most, here };
		else if (step > l->second)
			l->second = step;
	}
}

uint64_t ptt_splice_find(struct ptt_reader *r, uint64_t from, uint64_t to, const struct splice_how *how)
{
	const size_t record = how->format * 4u;
	struct longest longest = { 0 };
	uint64_t best = 0;
	int32_t most = 2;

	for (uint64_t at = from; to - at >= 2 * record;) {
		const uint8_t *p = NULL;
		size_t n = pdata_bytes(r, at, to - at < PTT_WINDOW_MOST ? to - at : PTT_WINDOW_MOST, &p);
		struct search s;
		int32_t here = 0;

		if (n < 2 * record)
			break;
		if (search_open(&s, p, n, how)) {
			search_pairs(&s, true);
			search_forget_silent(&s);
			const uint32_t i = search_best(&s, &here);
			if (i && here > most) {
				most = here;
				best = at + i * record;
			}
			longest_take(&longest, &s, at);
		}
		search_close(&s);
		if (at + n >= to)
			break;
		at += n / 8 * 7 / record * record;
	}
	return longest.most / JUMP > longest.second ? longest.at : best;
}

/* ---- where nothing says that records are missing ---------------------------------------------------------------- */

/* The DW of a record of 8DW that has the id and tag; 0: it is neither a non-posted request nor a completion. */
static uint32_t record_id(const uint8_t *p, bool *completes, bool *ends)
{
	const uint32_t dw0 = ptt_le32(p + 8), dw1 = ptt_le32(p + 12), dw2 = ptt_le32(p + 16), kind = dw0 >> 24;
	const uint32_t high = (dw0 >> 23 & 1) << 1 | (dw0 >> 19 & 1);
	const uint32_t length = ((dw0 - 1) & 0x3ff) + 1, count = ((dw1 - 1) & 0xfff) + 1;

	*completes = (kind & 0xbe) == 0x0a;
	*ends = *completes && ((dw1 & 0xf000) || !(kind & 0x40) || count <= 4 * length - (dw2 & 3));
	if (*completes)
		return (dw2 & 0xffffff00) | high;
	return (kind & 0xde) == 0 ? (dw1 & 0xffffff00) | high : 0;
}

/* Whether some completions right behind record i of n answer nothing that went before. */
static bool is_torn(const uint8_t *p, uint32_t n, uint32_t i)
{
	uint32_t unexpected = 0, looked = 0; /* most places look whole at once */
	bool completes, ends;

	for (uint32_t k = i; k < n && k < i + NEAR && looked < (unexpected ? 16 : 6) && unexpected < 2; k++) {
		const uint32_t id = record_id(p + (size_t)k * 32, &completes, &ends);
		uint32_t back = k, least = k > 1024 ? k - 1024 : 0;
		bool found = false;

		if (!completes)
			continue;
		looked++;
		while (!found && back > least)
			found = record_id(p + (size_t)--back * 32, &completes, &ends) == id;
		unexpected += found ? ends : least > 0;
	}
	return unexpected >= 2;
}

/* Whether records are missing in front of record i of n. */
static bool is_splice(const uint8_t *p, uint32_t n, uint32_t i, const struct splice_how *how)
{
	const uint32_t from = i > FLIGHT_MOST ? i - FLIGHT_MOST : 0, to = n - i > FLIGHT_MOST ? i + FLIGHT_MOST : n;
	uint32_t here = i - from, first = UINT32_MAX, whole = 0, over = 0, unexpected = 0, others = 0;
	struct search s;
	bool is = false;

	if (search_open(&s, p + (size_t)from * 32, (size_t)(to - from) * 32, how)) {
		search_pairs(&s, false);
		/* up to the first answer to a request from behind it */
		for (uint32_t k = 0; k < s.nspans; k++)
			if (s.span[k].of == WHOLE && s.span[k].from >= here && s.span[k].to < first)
				first = s.span[k].to;
		for (uint32_t k = 0; k < s.nspans; k++) {
			const struct span *v = &s.span[k];

			whole += v->of == WHOLE;
			over += v->of == WHOLE && v->from < here && v->to >= here;
			unexpected += v->of == UNEXPECTED && v->to >= here && v->to < first;
			others += v->of == UNEXPECTED && v->to >= s.flight && (v->to < here || v->to - here > s.flight);
		}
		const uint32_t chance =
			first == UINT32_MAX ? 0 : (8 * others * (first - here) + s.n - 1) / s.n; /* of others there */

		/* as there are many places to look at, errors stand together somewhere when there are enough of them */
		is = unexpected >= 2 + chance + (others > OTHERS_FEW ? 2 : 0) && over * 4 <= unexpected &&
		     others * 8 <= whole;
	}
	search_close(&s);
	return is;
}

/* The record of the longest step from record i on, of so many. */
static uint32_t longest_step(const uint8_t *p, uint32_t i, uint32_t n)
{
	uint32_t most = 0, best = i + 1;

	for (uint32_t k = i + 1; k < i + n; k++) {
		const uint32_t step = ptt_le32(p + (size_t)k * 32 + 28) - ptt_le32(p + (size_t)k * 32 - 4);

		if (step > most && step >> 31 == 0) {
			most = step;
			best = k;
		}
	}
	return best;
}

static uint32_t stride_at(const uint8_t *p, uint32_t i)
{
	return ptt_le32(p + (size_t)(i + STRIDE) * 32 + 28) - ptt_le32(p + (size_t)i * 32 + 28);
}

/* The mean of the strides that are no longer than `most`. */
static uint64_t usual_stride(const uint8_t *p, uint32_t strides, uint64_t most)
{
	uint64_t sum = 0, n = 0;

	for (uint32_t i = 0; i + 1 < strides; i++) {
		const uint32_t step = stride_at(p, i * STRIDE);

		n += step <= most;
		sum += step <= most ? step : 0;
	}
	return n ? sum / n : 0;
}

static uint32_t strides_over(const uint8_t *p, uint32_t strides, uint64_t limit)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i + 1 < strides; i++)
		n += stride_at(p, i * STRIDE) > limit;
	return n;
}

size_t ptt_splice_ahead(const uint8_t *p, size_t bytes, const struct splice_how *how)
{
	const uint32_t n = (uint32_t)(bytes / 32), strides = n / STRIDE;

	if (strides < 4 || !how->counts)
		return bytes;
	uint64_t limit = usual_stride(p, strides, usual_stride(p, strides, UINT32_MAX)) * 3 / 2 + 1;
	while (strides_over(p, strides, limit) > JUMPS_MOST)
		limit *= 2;
	for (uint32_t i = 0; i + STRIDE < n; i += STRIDE) {
		const uint32_t step = stride_at(p, i);

		if (step >> 31 || step <= limit)
			continue;
		const uint32_t k = longest_step(p, i, STRIDE + 1);
		if (is_torn(p, n, k) && is_splice(p, n, k, how))
			return (size_t)k * 32;
	}
	return bytes;
}
