/*
 * watch.h: the invariants of a PTT device's traces.
 *
 * A watch gets traces, record by record, and the counts that a platform reports; then it is asked about each
 * invariant. It keeps the first record that breaks an invariant, and how often each invariant was tested.
 */
#ifndef TALLY_PTT_WATCH_H
#define TALLY_PTT_WATCH_H

#include "ptt/pmu.h"
#include "ptt/ptt.h"

/* X(name, what holds) */
/* clang-format off */
#define PTT_INVARIANTS(X) \
	X(records_have_markers, "a record of 8DW begins with ones, and its reserved word is 0") \
	X(types_exist, "each packet is of a type that there is") \
	X(only_what_was_selected, "a trace holds the types that were selected, and no others") \
	X(lengths_fit_types, "a length is one that the type may have") \
	X(enables_fit_lengths, "byte enables fit the length") \
	X(addresses_fit_pages, "a request stays within 4 KB, and its address is as short as it can be") \
	X(completions_end_at_boundaries, "a completion carries all that is left, or ends at a boundary of 64 bytes") \
	X(times_in_order, "records come in the order of their times") \
	X(times_within_span, "a trace spans no more time than it took") \
	X(answers_within_requests, "completions of a requester and tag are no more than its requests") \
	X(reads_get_what_they_ask, "a read is answered with the bytes that it asked for") \
	X(byte_counts_fall, "the byte count of a completion is what its read still lacks") \
	X(completions_go_on, "a completion begins where the one before it ended") \
	X(packets_are_the_links, "a trace holds as many packets of each type as went over the link") \
	X(bytes_are_the_links, "packets of a trace carry the bytes that went over the link") \
	X(tunables_in_range, "a tunable is 0, 1 or 2")
/* clang-format on */
enum ptt_invariant {
#define INVARIANT(name, text) PTT_INVARIANT_##name,
	PTT_INVARIANTS(INVARIANT)
#undef INVARIANT
		PTT_INVARIANT_COUNT
};
struct ptt_invariant_row {
	const char *name, *text;
};
extern const struct ptt_invariant_row ptt_invariants[PTT_INVARIANT_COUNT];
enum ptt_verdict { PTT_HOLDS, PTT_BROKEN, PTT_UNKNOWN };

struct ptt_watched {        /* a trace */
	char name[120];     /* for messages */
	struct ptt_ask ask; /* its device's name is not used */
	bool is_asked;      /* ask is known */
	bool tag14;
	uint8_t time; /* enum ptt_time of its records; AUTO: nobody knows */
};
enum { PTT_WATCH_TRACES = 64 };

struct ptt_watch;
int ptt_watch_open(struct ptt_watch **ret, struct err *e); /* -TALLY_ENOMEM */
void ptt_watch_close(struct ptt_watch *w);                 /* NULL is fine */
/* A trace begins; i, below PTT_WATCH_TRACES, is its place from now on: what was there has ended. */
void ptt_watch_begin(struct ptt_watch *w, uint32_t i, const struct ptt_watched *t);
/* Whole records; offset: of the first, for messages. */
void ptt_watch_records(struct ptt_watch *w, uint32_t i, uint8_t format, const uint8_t *p, size_t n, uint64_t offset);
/* Records are missing before the next. */
void ptt_watch_gap(struct ptt_watch *w, uint32_t i, const struct ptt_gap *g);
/* What the link had carried before and after the trace began, before and after it ended. Not called: nothing tells. */
void ptt_watch_link(struct ptt_watch *w, uint32_t i, const struct ptt_link at[static 4]);
void ptt_watch_tunable(struct ptt_watch *w, const char *device, enum ptt_tune t, uint32_t value);
uint64_t ptt_watch_seen(const struct ptt_watch *w); /* records, of all traces */
/* Words of a broken or unknown invariant in e. */
enum ptt_verdict ptt_watch_invariant(const struct ptt_watch *w, enum ptt_invariant l, struct err *e);

#endif
