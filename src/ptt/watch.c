/*
 * watch.c: the invariants of a PTT device's traces.
 *
 * There are three kinds. A single record shows whether it is valid, and whether its fields fit together (PCI Express
 * base specification r5.0, 2.2 and 2.3). A trace shows whether completions fit their requests. Only a trace of
 * direction 2 has both, and requests from before the trace are unknown; so a completion is one too many only if its
 * requester and tag have sent a request in this trace that was answered (match.c calls the others "after a gap"). And
 * a platform that counts the packets of its links shows how many packets a trace must hold; between the readings of a
 * platform that runs on is an interval.
 *
 * A trace of 4DW holds a packet between peers twice, so the first request of a requester and tag may be the duplicate
 * of an earlier one. Nobody uses a tag again before its answer came, so from the second request on a tag is judged.
 *
 * An invariant without evidence is unknown, not kept. Missing records break no invariant: a gap ends all open
 * requests, and afterwards the link's counts are not compared.
 *
 * Memory is constant. Hostile records can only break invariants.
 */
#include <stdio.h>
#include <string.h>

#include "ptt/decode_inline.h"
#include "ptt/match_int.h"
#include "ptt/watch.h"

#define OPEN_MOST 16384u
#define BOUNDARY 64u /* the least that a completer may end at (2.3.1.1) */
#define PAGE 4096u

const struct ptt_invariant_row ptt_invariants[PTT_INVARIANT_COUNT] = {
#define INVARIANT(name, text) { #name, text },
	PTT_INVARIANTS(INVARIANT)
#undef INVARIANT
};

struct watched_invariant {
	uint64_t said; /* how often it had something to say */
	bool broken;
	struct err why; /* the first that broke it; else why it could not be asked */
};
enum { CLASSES = 3 }; /* P, NP, CPL: enum tlp_class without the reserved ones */
struct watched_trace {
	struct ptt_watched is;
	struct ptt_clock clock;
	bool timed;          /* some record of 8DW has set `last` */
	bool has_gap;        /* records are missing somewhere in it */
	bool has_hidden_gap; /* somewhere behind, and nobody knows where */
	bool has_evicted;    /* some request was given up for want of room */
	uint32_t last;       /* Time of the last record */
	uint64_t ticks;      /* from the first to the last */
	uint64_t offset;     /* of the record, for messages */
	uint64_t n[CLASSES], bytes[CLASSES];
};
/* A requester and tag of a trace that holds packets twice. */
struct watched_asker {
	uint64_t key; /* 0: none */
	uint16_t gaps;
	uint16_t requests; /* since so many gaps; REQUESTS_MOST: or more */
};
enum { ASKERS = 16384, REQUESTS_MOST = 3 };
struct ptt_watch {
	struct watched_asker asker[ASKERS];
	uint32_t askers;
	struct watched_invariant invariant[PTT_INVARIANT_COUNT];
	struct watched_trace trace[PTT_WATCH_TRACES];
	struct ptt_match *match;
	uint64_t seen;
};

int ptt_watch_open(struct ptt_watch **ret, struct err *e)
{
	struct ptt_watch *w = mem_alloc(sizeof(*w));

	if (!w || ptt_match_open(&w->match, OPEN_MOST) < 0) {
		mem_free(w);
		return err_set(e, TALLY_ENOMEM, "out of memory");
	}
	*ret = w;
	return 0;
}

void ptt_watch_close(struct ptt_watch *w)
{
	if (!w)
		return;
	ptt_match_close(w->match);
	mem_free(w);
}

/* ---- verdicts ------------------------------------------------------------------------------------------------ */

static void watch_said(struct ptt_watch *w, enum ptt_invariant l)
{
	w->invariant[l].said++;
}

/* The invariant says something about a record; where it does not hold the words are kept, of the first. */
#define WATCH_RECORD(w, t, l, holds, ...)                   \
	do {                                                \
		watch_said(w, l);                           \
		if (!(holds))                               \
			watch_broken(w, t, l, __VA_ARGS__); \
	} while (0)

static void watch_broken(struct ptt_watch *w, const struct watched_trace *t, enum ptt_invariant l, const char *fmt, ...)
	PRINTF_LIKE(4, 5);
static void watch_broken(struct ptt_watch *w, const struct watched_trace *t, enum ptt_invariant l, const char *fmt, ...)
{
	char words[256];
	va_list ap;

	if (w->invariant[l].broken)
		return;
	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	w->invariant[l].broken = true;
	w->invariant[l].why = (struct err){ 0 }; /* why another trace could not be asked */
	err_set(&w->invariant[l].why, TALLY_ESTATE, "%s, record at 0x%llx: %s", t->is.name,
		(unsigned long long)t->offset, words);
}

static void watch_unknown(struct ptt_watch *w, enum ptt_invariant l, const char *why)
{
	if (!w->invariant[l].broken)
		err_set(&w->invariant[l].why, TALLY_ENOTSUP, "%s", why);
}

enum ptt_verdict ptt_watch_invariant(const struct ptt_watch *w, enum ptt_invariant l, struct err *e)
{
	static const char *const silent[PTT_INVARIANT_COUNT] = {
		[PTT_INVARIANT_records_have_markers] = "there is no record of 8DW",
		[PTT_INVARIANT_only_what_was_selected] = "nothing tells what was selected",
		[PTT_INVARIANT_times_in_order] = "nothing tells what Time counts from",
		[PTT_INVARIANT_times_within_span] = "nothing tells how long the trace took",
		[PTT_INVARIANT_answers_within_requests] =
			"no trace has enough requests together with their completions",
		[PTT_INVARIANT_reads_get_what_they_ask] = "no trace has enough reads together with their completions",
		[PTT_INVARIANT_byte_counts_fall] = "no trace has enough reads together with their completions",
		[PTT_INVARIANT_completions_go_on] = "no trace has enough reads together with their completions",
		[PTT_INVARIANT_packets_are_the_links] = "nothing tells what the link carried",
		[PTT_INVARIANT_bytes_are_the_links] = "nothing tells what the link carried",
		[PTT_INVARIANT_tunables_in_range] = "nothing tells the tunables",
	};
	const struct watched_invariant *invariant = &w->invariant[l];

	if (invariant->broken) {
		*e = invariant->why;
		return PTT_BROKEN;
	}
	if (invariant->said)
		return PTT_HOLDS;
	if (invariant->why.code)
		*e = invariant->why;
	else
		err_set(e, TALLY_ENOTSUP, "%s", silent[l] ? silent[l] : "there is no such packet");
	return PTT_UNKNOWN;
}

uint64_t ptt_watch_seen(const struct ptt_watch *w)
{
	return w->seen;
}

/* ---- what a record says alone ---------------------------------------------------------------------------------- */

static const struct tlp_type *type_of(const struct tlp *p)
{
	return tlp_type_at(p->type_index);
}

static bool is_memory(const struct tlp_type *y)
{
	return y->layout == TLP_MEM32 || y->layout == TLP_MEM64;
}

static bool is_atomic(const struct tlp *p)
{
	return p->type_index >= TLP_ROW_FetchAdd32 && p->type_index <= TLP_ROW_CAS64;
}

/* DWs of an atomic request's operands are 4 or 8 bytes each, of a compare-and-swap 16 too, and two (2.2.7.1.1). */
static bool atomic_length_fits(const struct tlp *p)
{
	const bool two = p->type_index == TLP_ROW_CAS32 || p->type_index == TLP_ROW_CAS64;
	const uint32_t n = p->length_dw;

	return two ? n == 2 || n == 4 || n == 8 : n == 1 || n == 2;
}

static void watch_lengths(struct ptt_watch *w, const struct watched_trace *t, const struct tlp *p)
{
	const struct tlp_type *y = type_of(p);

	if (y->layout == TLP_IO || y->layout == TLP_CFG)
		WATCH_RECORD(w, t, PTT_INVARIANT_lengths_fit_types, p->length_dw == 1, "%s of %u DWs; it has one",
			     y->name, p->length_dw);
	else if (is_atomic(p))
		WATCH_RECORD(w, t, PTT_INVARIANT_lengths_fit_types, atomic_length_fits(p), "%s of %u DWs", y->name,
			     p->length_dw);
	else if (y->layout == TLP_COMPLETION && p->status)
		WATCH_RECORD(w, t, PTT_INVARIANT_lengths_fit_types, !y->data, "%s with status %u has data", y->name,
			     p->status);
}

/* Between the first and the last enabled byte all are, but for one DW, and for two at an address that is a multiple of
 * 8 (2.2.5). */
static bool enables_are_contiguous(const struct tlp *p)
{
	const bool first = p->first_be == 0xf || p->first_be == 0xe || p->first_be == 0xc || p->first_be == 0x8;
	const bool last = p->last_be == 0xf || p->last_be == 0x7 || p->last_be == 0x3 || p->last_be == 0x1;

	return (first && last) || p->length_dw == 1 || (p->length_dw == 2 && p->address % 8 == 0);
}

static void watch_enables(struct ptt_watch *w, const struct watched_trace *t, const struct tlp *p)
{
	const struct tlp_type *y = type_of(p);

	if (is_atomic(p) || !(is_memory(y) || y->layout == TLP_IO || y->layout == TLP_CFG))
		return;
	if (p->length_dw == 1)
		WATCH_RECORD(w, t, PTT_INVARIANT_enables_fit_lengths, p->last_be == 0,
			     "%s of one DW enables bytes %x of a last", y->name, p->last_be);
	else
		WATCH_RECORD(w, t, PTT_INVARIANT_enables_fit_lengths,
			     p->first_be && p->last_be && enables_are_contiguous(p),
			     "%s of %u DWs enables bytes %x of the first, %x of the last", y->name, p->length_dw,
			     p->first_be, p->last_be);
}

static void watch_address(struct ptt_watch *w, const struct watched_trace *t, const struct tlp *p)
{
	const struct tlp_type *y = type_of(p);

	if (!is_memory(y))
		return;
	WATCH_RECORD(w, t, PTT_INVARIANT_addresses_fit_pages, (p->address & (PAGE - 1)) + 4 * p->length_dw <= PAGE,
		     "%s of %u DWs at 0x%llx goes beyond 4 KB", y->name, p->length_dw, (unsigned long long)p->address);
	if (y->layout == TLP_MEM64)
		WATCH_RECORD(w, t, PTT_INVARIANT_addresses_fit_pages, p->address >> 32 != 0,
			     "%s at 0x%llx, which has 32 bits", y->name, (unsigned long long)p->address);
}

/* The bytes that its DWs hold, from the lower address on. */
static uint32_t completion_room(const struct tlp *p)
{
	return 4 * p->length_dw - (p->lower_address & 3u);
}

static bool is_answer(const struct tlp *p)
{
	return p->class == TLP_CPL && type_of(p)->data && !p->status;
}

static void watch_completion(struct ptt_watch *w, const struct watched_trace *t, const struct tlp *p)
{
	const uint32_t room = completion_room(p);

	if (!is_answer(p) || p->bcm)
		return;
	if (room < p->byte_count)
		WATCH_RECORD(w, t, PTT_INVARIANT_completions_end_at_boundaries,
			     (p->lower_address + room) % BOUNDARY == 0, "%u of %u bytes from lower address 0x%x on",
			     room, p->byte_count, p->lower_address);
	else
		WATCH_RECORD(w, t, PTT_INVARIANT_completions_end_at_boundaries, room - p->byte_count < 4,
			     "%u DWs for the last %u bytes", p->length_dw, p->byte_count);
}

/* hisi_ptt.rst, "Type" and "Direction": 8DW of direction 3 has inbound completions alone. */
static bool is_selected(const struct ptt_ask *a, const struct tlp *p)
{
	return a->type >> p->class & 1 && (p->class == TLP_CPL || a->direction != 3 || a->format == 0);
}

static void watch_packet(struct ptt_watch *w, const struct watched_trace *t, const struct tlp *p)
{
	WATCH_RECORD(w, t, PTT_INVARIANT_types_exist, p->class != TLP_RESERVED, "Fmt %u, Type 0x%x are reserved",
		     p->fmt, p->type);
	if (p->class == TLP_RESERVED)
		return;
	if (t->is.is_asked)
		WATCH_RECORD(w, t, PTT_INVARIANT_only_what_was_selected, is_selected(&t->is.ask, p),
			     "%s, which was not selected", type_of(p)->name);
	watch_lengths(w, t, p);
	watch_enables(w, t, p);
	watch_address(w, t, p);
	watch_completion(w, t, p);
}

/* ---- time ------------------------------------------------------------------------------------ */

static void watch_time(struct ptt_watch *w, struct watched_trace *t, uint32_t now)
{
	const uint32_t step = now - t->last;

	if (t->is.time != PTT_TIME_ABS)
		return;
	if (t->timed) {
		WATCH_RECORD(w, t, PTT_INVARIANT_times_in_order, (int32_t)step >= 0, "Time is %u behind %u", now,
			     t->last);
		t->ticks += (int32_t)step >= 0 ? step : 0;
	}
	t->last = now;
	t->timed = true;
}

/* ---- requests and completions ---------------------------------------------------------------- */

/* Whether a trace has requests together with their completions. */
static bool has_both(const struct watched_trace *t)
{
	const uint32_t both = 1u << TLP_NP | 1u << TLP_CPL;

	return t->is.is_asked && t->is.ask.direction == 2 && (t->is.ask.type & both) == both && !t->has_evicted &&
	       !t->has_hidden_gap;
}

/* A completion of a read, whose bytes so far, this packet's included, are `got`. */
static void watch_piece(struct ptt_watch *w, const struct watched_trace *t, const struct tlp *p, const struct tlp *read,
			uint64_t got)
{
	const uint32_t all = ptt_read_bytes(read);
	const uint64_t before = got - p->bytes;
	const uint32_t from = ((uint32_t)read->address & ~3u) + ptt_read_first(read) + (uint32_t)before;

	if (p->bcm)
		return;
	WATCH_RECORD(w, t, PTT_INVARIANT_byte_counts_fall, p->byte_count + before == all,
		     "byte count %u, of %u bytes that were asked for and %llu that came", p->byte_count, all,
		     (unsigned long long)before);
	WATCH_RECORD(w, t, PTT_INVARIANT_completions_go_on, p->lower_address == (from & 0x7f),
		     "lower address 0x%x, where 0x%x is next", p->lower_address, from & 0x7f);
}

/* NULL: there is no room for another one. */
static struct watched_asker *asker_of(struct ptt_watch *w, uint64_t key, uint32_t device)
{
	const uint16_t gaps = *match_gaps(w->match, device);
	uint32_t i = (uint32_t)(key * 0x9e3779b97f4a7c15ull >> 32) % ASKERS;

	while (w->asker[i].key && w->asker[i].key != key)
		i = (i + 1) % ASKERS;
	if (!w->asker[i].key) {
		if (w->askers == ASKERS / 4 * 3)
			return NULL;
		w->askers++;
		w->asker[i] = (struct watched_asker){ key, gaps, 0 };
	}
	if (w->asker[i].gaps != gaps)
		w->asker[i] = (struct watched_asker){ key, gaps, 0 };
	return &w->asker[i];
}

/* How many requests of this requester and tag are known not to be duplicates of earlier ones, up to 2. */
static uint32_t requests_judged(struct ptt_watch *w, const struct watched_trace *t, const struct tlp *p, uint64_t key,
				enum ptt_event what)
{
	struct watched_asker *a = t->is.ask.format ? NULL : asker_of(w, key, p->device);

	if (a && p->class == TLP_NP && what != PTT_DUPLICATE && a->requests < REQUESTS_MOST)
		a->requests++;
	return t->is.ask.format ? 2 : a && a->requests ? a->requests - 1u : 0;
}

static bool is_read(const struct tlp *p)
{
	return p->type_index == TLP_ROW_MRd32 || p->type_index == TLP_ROW_MRd64;
}

static void watch_transaction(struct ptt_watch *w, struct watched_trace *t, const struct tlp *p)
{
	const uint64_t key = match_key(p->device, p->segment, p->requester, p->tag);
	struct ptt_pair pair = { .completer = 0 };
	const enum ptt_event what = ptt_match_next(w->match, p, &pair);
	const uint32_t judged = requests_judged(w, t, p, key, what);

	if (what == PTT_EVICTED)
		t->has_evicted = true;
	if (what == PTT_REUSED && judged == 2 && is_read(&pair.request) && pair.t.bytes != 0)
		WATCH_RECORD(w, t, PTT_INVARIANT_reads_get_what_they_ask, false,
			     "requester %02x:%02x.%x uses tag 0x%x again, of whose %u bytes %llu came",
			     p->requester >> 8, p->requester >> 3 & 0x1f, p->requester & 7, p->tag,
			     ptt_read_bytes(&pair.request), (unsigned long long)pair.t.bytes);
	if (p->class != TLP_CPL || what == PTT_AFTER_GAP || what == PTT_DUPLICATE || !judged)
		return;
	WATCH_RECORD(w, t, PTT_INVARIANT_answers_within_requests, what != PTT_UNEXPECTED_CPL,
		     "a completion for requester %02x:%02x.%x, tag 0x%x, which was answered before", p->requester >> 8,
		     p->requester >> 3 & 0x1f, p->requester & 7, p->tag);
	if (what == PTT_UNEXPECTED_CPL || !is_answer(p))
		return;
	if (what == PTT_NONE) /* more will come */
		pair = w->match->slot[match_find(w->match, key)->slot].pair;
	if (!is_read(&pair.request))
		return;
	watch_piece(w, t, p, &pair.request, pair.t.bytes);
	if (what == PTT_DONE)
		WATCH_RECORD(w, t, PTT_INVARIANT_reads_get_what_they_ask, pair.t.bytes == ptt_read_bytes(&pair.request),
			     "%u bytes were asked for, and %llu came", ptt_read_bytes(&pair.request),
			     (unsigned long long)pair.t.bytes);
}

/* ---- traces ---------------------------------------------------------------------------------- */

void ptt_watch_begin(struct ptt_watch *w, uint32_t i, const struct ptt_watched *is)
{
	w->trace[i] = (struct watched_trace){ .is = *is };
	(void)ptt_match_gap(w->match, i, NULL, NULL);
	ptt_match_twice(w->match, i, is->ask.direction == 2 && is->ask.format == 0);
}

static void watch_marker(struct ptt_watch *w, const struct watched_trace *t, const uint8_t *p)
{
	const uint32_t marker = ptt_le32(p), reserved = ptt_le32(p + 24);

	WATCH_RECORD(w, t, PTT_INVARIANT_records_have_markers, marker == UINT32_MAX, "DW0 is 0x%08x", marker);
	WATCH_RECORD(w, t, PTT_INVARIANT_records_have_markers, reserved == 0, "DW6 is 0x%08x", reserved);
}

void ptt_watch_records(struct ptt_watch *w, uint32_t i, uint8_t format, const uint8_t *p, size_t n, uint64_t offset)
{
	struct watched_trace *t = &w->trace[i];
	const struct ptt_decode_opts o = { .format = format, .time = PTT_TIME_ABS, .tag14 = t->is.tag14 };
	const size_t size = 4u * format;
	struct tlp x;

	for (size_t at = 0; at + size <= n; at += size) {
		if (ptt_is_padding(p + at, format))
			continue;
		t->offset = offset + at;
		ptt_decode(p + at, &o, &t->clock, &x);
		x.device = i;
		w->seen++;
		if (format == PTT_8DW) {
			watch_marker(w, t, p + at);
			watch_time(w, t, ptt_le32(p + at + 28));
		}
		watch_packet(w, t, &x);
		if (x.class == TLP_RESERVED)
			continue;
		t->n[x.class]++;
		t->bytes[x.class] += x.bytes;
		if (has_both(t))
			watch_transaction(w, t, &x);
	}
}

void ptt_watch_gap(struct ptt_watch *w, uint32_t i, const struct ptt_gap *g)
{
	struct watched_trace *t = &w->trace[i];

	if (g->why == PTT_GAP_DAMAGE)
		WATCH_RECORD(w, t, PTT_INVARIANT_records_have_markers, false, "%llu bytes behind it are no record",
			     (unsigned long long)g->bytes);
	(void)ptt_match_gap(w->match, i, NULL, NULL);
	t->has_gap = true;
	t->timed = false;
	t->has_hidden_gap |= g->why == PTT_GAP_CUT_SOMEWHERE;
}

/* ---- the link -------------------------------------------------------------------------------- */

/* What of a direction a trace of it carries: bits of enum ptt_class. */
static uint32_t carried_classes(const struct ptt_ask *a, bool outbound, uint32_t type)
{
	static const uint8_t classes[CLASSES] = { [TLP_P] = 1 << PTT_CLASS_P,
						  [TLP_NP] = 1 << PTT_CLASS_NP,
						  [TLP_CPL] = 1 << PTT_CLASS_CPL_A | 1 << PTT_CLASS_CPL_B };
	static const uint8_t in[] = { 0xf, 0, 0xf & ~(1 << PTT_CLASS_CPL_A), 1 << PTT_CLASS_CPL_A };
	static const uint8_t out[2][4] = { { 0, 0xf, 0xf, 0xf }, { 0, 0xf, 0, 0 } };

	return classes[type] & (outbound ? out[a->format & 1][a->direction & 3] : in[a->direction & 3]);
}

struct carried {
	uint64_t lo, hi;
};

static struct carried link_carried(const struct watched_trace *t, const struct ptt_link at[static 4], uint32_t type,
				   bool bytes)
{
	struct carried sum = { 0, 0 };

	for (uint32_t outbound = 0; outbound < 2; outbound++)
		for (uint32_t cls = 0; cls < 4; cls++) {
			uint64_t v[4];

			if (!(carried_classes(&t->is.ask, outbound, type) >> cls & 1))
				continue;
			for (uint32_t k = 0; k < 4; k++)
				v[k] = bytes ? at[k].bytes[outbound][cls] : at[k].tlps[outbound][cls];
			sum.lo += v[2] - v[1];
			sum.hi += v[3] - v[0];
		}
	return sum;
}

static void watch_carried(struct ptt_watch *w, const struct watched_trace *t, const struct ptt_link at[static 4],
			  enum ptt_invariant l, uint32_t type)
{
	static const char *const names[] = {
		[TLP_P] = "posted requests", [TLP_NP] = "non-posted requests", [TLP_CPL] = "completions"
	};
	const bool bytes = l == PTT_INVARIANT_bytes_are_the_links;
	const struct carried is = link_carried(t, at, type, bytes);
	const uint64_t held = bytes ? t->bytes[type] : t->n[type];

	if (!is.hi && !held)
		return;
	WATCH_RECORD(w, t, l, held >= is.lo && held <= is.hi, "the trace holds %llu %s%s, the link carried %llu",
		     (unsigned long long)held, bytes ? "bytes of " : "", names[type],
		     (unsigned long long)(held < is.lo ? is.lo : is.hi));
}

void ptt_watch_link(struct ptt_watch *w, uint32_t i, const struct ptt_link at[static 4])
{
	const struct watched_trace *t = &w->trace[i];
	const uint64_t took = at[3].ns - at[0].ns;

	if (t->has_gap) {
		watch_unknown(w, PTT_INVARIANT_packets_are_the_links, "records were lost");
		watch_unknown(w, PTT_INVARIANT_bytes_are_the_links, "records were lost");
	}
	for (uint32_t type = 0; type < CLASSES && !t->has_gap; type++)
		if (t->is.ask.type >> type & 1) {
			watch_carried(w, t, at, PTT_INVARIANT_packets_are_the_links, type);
			watch_carried(w, t, at, PTT_INVARIANT_bytes_are_the_links, type);
		}
	if (t->timed && t->ticks)
		WATCH_RECORD(w, t, PTT_INVARIANT_times_within_span, t->ticks <= took, "%llu ticks in %llu ns",
			     (unsigned long long)t->ticks, (unsigned long long)took);
}

void ptt_watch_tunable(struct ptt_watch *w, const char *device, enum ptt_tune k, uint32_t value)
{
	watch_said(w, PTT_INVARIANT_tunables_in_range);
	if (value <= PTT_TUNE_MOST || w->invariant[PTT_INVARIANT_tunables_in_range].broken)
		return;
	w->invariant[PTT_INVARIANT_tunables_in_range].broken = true;
	err_set(&w->invariant[PTT_INVARIANT_tunables_in_range].why, TALLY_ESTATE, "%s/%s is %u", device,
		ptt_tunables[k].name, value);
}
