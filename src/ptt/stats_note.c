/*
 * stats_note.c: what a trace cannot answer, and why. A missing or weak figure without that note would mislead.
 */
#include <stdio.h>

#include "ptt/match_int.h"
#include "ptt/rule.h"
#include "ptt/stats_int.h"

static void note_say(struct ptt_report *r, enum ptt_note what, const char *fmt, ...) PRINTF_LIKE(3, 4);
static void note_say(struct ptt_report *r, enum ptt_note what, const char *fmt, ...)
{
	struct ptt_note_row *row = &r->note[r->nnotes++];
	va_list ap;

	row->note = (uint8_t)what;
	va_start(ap, fmt);
	vsnprintf(row->text, sizeof(row->text), fmt, ap);
	va_end(ap);
}

typedef unsigned long long ull;

/* The bits of enum ptt_coverage that say what its event hides. */
static uint8_t hidden_by(const struct ptt_device_row *d)
{
	return ptt_config_coverage(d->config, (enum ptt_format)d->format) &
	       (PTT_COVERAGE_NO_COMPLETIONS | PTT_COVERAGE_NO_REQUESTS);
}

/* What the event itself hides, in one line. The first device's event stands for others, which hardly ever have another
 * one. */
static void note_direction(struct ptt_report *r)
{
	const struct ptt_device_row *d = NULL;
	uint64_t requests = 0, completions = 0;
	struct ptt_ask ask;
	char hidden[96] = "";
	const char *words;

	for (uint32_t i = 0; i < r->ndevices; i++)
		if (d == NULL && hidden_by(&r->device[i]))
			d = &r->device[i];
	for (uint32_t i = 0; i < r->nrequesters; i++)
		if (hidden_by(ptt_report_device(r, r->requester[i].device)))
			requests += r->requester[i].unanswerable;
	completions = r->requestless;
	if (d == NULL || requests + completions == 0)
		return;
	if (requests != 0)
		snprintf(hidden, sizeof(hidden), "completions of %llu requests%s", (ull)requests,
			 completions ? " and " : "");
	if (completions != 0)
		snprintf(hidden + strlen(hidden), sizeof(hidden) - strlen(hidden), "requests of %llu completions",
			 (ull)completions);
	ptt_ask_of_config(&ask, d->config);
	words = ptt_direction_text(ask.format, ask.direction);
	note_say(r, PTT_NOTE_DIRECTION,
		 "Direction %u of %s is %s%s, so %s cannot be in the trace. They are counted separately, not "
		 "as errors.%s",
		 ask.direction, d->format == PTT_8DW ? "8DW" : "4DW", words ? words : "reserved",
		 (ask.type & 7) != 7 ? ", and not all types were selected" : "", hidden,
		 requests ? " A request that a device left unanswered looks the same." : "");
}

/* Which directions of a link a record is of isn't in the record; what matches tells. */
static void note_matching(struct ptt_report *r)
{
	uint64_t unexpected = r->fault_count[PTT_FAULT_UNEXPECTED_CPL], requests = r->requests + r->unanswerable;
	bool hidden = false;

	for (uint32_t i = 0; i < r->ndevices; i++)
		hidden |= hidden_by(&r->device[i]) != 0;
	if (r->matched && hidden && r->answered == 0 && requests + r->cls[TLP_CPL] != 0)
		note_say(r, PTT_NOTE_NO_LATENCY,
			 "No latency: the trace has no request together with its completion. 4DW with direction 2 has "
			 "both for requests of devices, direction 3 for requests of the host.");
	else if (!r->matched)
		note_say(r, PTT_NOTE_NO_MATCHING,
			 "Requests were not matched with completions: there is no latency, and unanswered requests "
			 "are unknown.");
	else if (r->requests + r->unanswerable == 0 && r->cls[TLP_CPL] != 0)
		note_say(r, PTT_NOTE_NO_REQUESTS,
			 "No latency: the trace has completions, but none of their requests. Those go in the other "
			 "direction of the link: trace both (4DW, direction 2 or 3).");
	else if (r->requests + r->unanswerable != 0 && r->cls[TLP_CPL] == 0)
		note_say(r, PTT_NOTE_NO_COMPLETIONS,
			 "No latency: the trace has requests, but no completions. Those go in the other direction of "
			 "the link, or the event's types leave them out: trace both (4DW, direction 2 or 3).");
	else if (requests != 0 && r->answered < requests / 10 && unexpected > r->cls[TLP_CPL] / 10 * 9)
		note_say(r, PTT_NOTE_OTHER_SIDE,
			 "Latency is of %llu of %llu requests: nearly all completions belong to requests that "
			 "are not in the trace. It holds requests of one side and completions of the other.",
			 (ull)r->answered, (ull)requests);
}

static void note_silent(struct ptt_report *r)
{
	uint64_t requests = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->nrequesters; i++) {
		const struct ptt_requester_row *q = &r->requester[i];

		if (q->unanswerable == 0 || hidden_by(ptt_report_device(r, q->device)) != 0)
			continue;
		requests += q->unanswerable;
		n++;
	}
	if (n != 0)
		note_say(r, PTT_NOTE_SILENT,
			 "None of %llu requests of %u requester%s was answered: their completions take a path that "
			 "the trace does not show (those to reads of the host are CPL A: direction 3). They are "
			 "counted separately, as unanswerable.",
			 (ull)requests, n, n == 1 ? "" : "s");
}

/* Of bare records nothing says which way they went. */
static void note_unknown_direction(struct ptt_report *r)
{
	const uint64_t open = r->fault_count[PTT_FAULT_UNANSWERED] + r->fault_count[PTT_FAULT_REUSED] +
			      r->fault_count[PTT_FAULT_EVICTED];
	bool unknown = false;

	for (uint32_t i = 0; i < r->ndevices; i++)
		unknown |= r->device[i].config == 0 && r->device[i].format == PTT_8DW;
	if (unknown && r->matched && open != 0)
		note_say(r, PTT_NOTE_UNKNOWN_DIRECTION,
			 "Nothing tells the direction of these records. In 8DW most directions lack "
			 "completions: so %llu requests that are unanswered or given up may have "
			 "been answered where the trace does not see, and are no proof of an error.",
			 (ull)open);
}

/* What too few signs are left of to tell a break from errors (stats_break.c), and what happened nobody knows where. */
static void note_may_miss(struct ptt_report *r)
{
	const uint64_t unexpected = r->fault_count[PTT_FAULT_UNEXPECTED_CPL], reused = r->fault_count[PTT_FAULT_REUSED];
	static const char rests[] =
		"Latencies and outstanding requests may be of requests and completions that do not belong together.";

	if (unexpected + reused != 0)
		note_say(r, PTT_NOTE_MAY_MISS,
			 "%llu completions whose requests are not open, and %llu tags used again "
			 "while open: errors of the link look so, and so do records that are missing "
			 "where no size, offset or flag says so. In that case these are no errors. %s",
			 (ull)unexpected, (ull)reused, rests);
	else if (r->misfits + r->broken != 0)
		note_say(r, PTT_NOTE_MAY_MISS,
			 "%llu reads were answered with another address or size than they "
			 "asked for, and of %llu the answer began and did not end: so it looks "
			 "where records are missing and no size, offset or flag says so. %s",
			 (ull)r->misfits, (ull)r->broken, rests);
	else if (r->may_mispair && !r->twice_unsure)
		note_say(r, PTT_NOTE_MAY_MISS,
			 "Records are missing, and nothing says for certain where. "
			 "%s Requests that count as unanswered may have been answered.",
			 rests);
	else if (r->never_answered)
		note_say(r, PTT_NOTE_MAY_MISS,
			 "Unanswered requests were open at the end more than twice as long as any took that was "
			 "answered. Devices that do not answer look so, and so do completions that are missing "
			 "from the file. In that case these are no errors, and fewer requests were outstanding%s.",
			 r->wraps ? ". How long each was open is known as far as 11 bits of time tell" : "");
}

static void note_time(struct ptt_report *r)
{
	bool short_time = false, deltas = false, unsure = false, unknown = false;

	for (uint32_t i = 0; i < r->ndevices; i++) {
		short_time |= r->device[i].format == PTT_4DW;
		deltas |= r->device[i].time == PTT_TIME_DELTA;
		unknown |= r->device[i].time == PTT_TIME_AUTO;
		unsure |= !r->device[i].time_sure;
	}
	if (unknown)
		note_say(r, PTT_NOTE_TIME_UNKNOWN,
			 "Whether Time is absolute or a delta is unknown, or differs between devices.");
	else if (unsure)
		note_say(r, PTT_NOTE_TIME_UNSURE,
			 "Time was read as %s, but the records do not prove it. If that is wrong, so are all times "
			 "and latencies.",
			 r->time == PTT_TIME_DELTA ? "a delta" : "absolute");
	if (r->strays)
		note_say(r, PTT_NOTE_TIME_ORDER,
			 "%llu record%s a Time that is out of order: those behind go on from the one before. It was "
			 "taken as that of the one before, so latencies that rest on it are off by as much as it was.",
			 (ull)r->strays, r->strays == 1 ? " has" : "s have");
	if (deltas)
		note_say(r, PTT_NOTE_TIME_DELTA,
			 "Times are deltas: a record that is missing takes its time with it. "
			 "Where some are missing and nothing says so, latencies that span "
			 "the place are too small, and so is the time from first to last.");
	if (short_time) {
		note_say(r, PTT_NOTE_TIME_GAPS,
			 "4DW records have 11 bits of time: a gap of 2048 ticks or "
			 "more between two records looks shorter than it was. So times, "
			 "spans and latencies are lower bounds, and rates upper bounds%s.",
			 r->sparse ? "; some gaps were so long, so outstanding requests on average are not known" :
				     ", and outstanding requests on average approximate");
		note_say(r, PTT_NOTE_4DW_FIELDS,
			 "4DW records do not have traffic class, poisoning, digest, prefix, no-snoop and ID-based "
			 "ordering: these count as absent.");
	}
	if (r->ndevices > 1)
		note_say(r, PTT_NOTE_CLOCKS,
			 "Each of the %u devices has its own clock: the time line puts their first "
			 "records at one time. Outstanding requests are those of one device: the one "
			 "that had most on average, in the time line the one that had most in a step.",
			 r->ndevices);
}

static void note_addresses(struct ptt_report *r)
{
	if (!r->pages_exact && !r->targets_exact)
		note_say(r, PTT_NOTE_PAGES_CUT,
			 "There were too many addresses to count all: pages may be %llu packets too low, "
			 "targets of single writes %llu.",
			 (ull)r->pages_error, (ull)r->targets_error);
	else if (!r->pages_exact)
		note_say(r, PTT_NOTE_PAGES_CUT,
			 "There were too many addresses to count all: pages may be %llu packets too low.",
			 (ull)r->pages_error);
	else if (!r->targets_exact)
		note_say(r, PTT_NOTE_PAGES_CUT,
			 "There were too many addresses of single writes to count all: targets may be %llu "
			 "too low.",
			 (ull)r->targets_error);
}

/* Parts that are counted apart have room for requests each: one count of all would give up others. */
static void note_evicted(const struct ptt_stats *s, struct ptt_report *r)
{
	uint64_t open = 0;

	if (!r->peak_is_bound)
		return;
	for (uint32_t i = 0; i < r->ndevices; i++)
		open += r->device[i].outstanding_peak;
	if (r->fault_count[PTT_FAULT_EVICTED] != 0 || open > s->match->most)
		note_say(r, PTT_NOTE_EVICTED,
			 "More than %u requests may have been open at once. Each thread keeps that many and evicts "
			 "the oldest, so another number of threads evicts others.",
			 s->match->most);
}

static void note_cuts(const struct ptt_stats *s, struct ptt_report *r)
{
	if (s->requesters.n == PTT_STATS_ROWS || s->completers.n == PTT_STATS_ROWS)
		note_say(r, PTT_NOTE_ROWS_CUT,
			 "The first %d requesters and completers have rows; the others share one.", PTT_STATS_ROWS);
	note_addresses(r);
	note_evicted(s, r);
	if (r->peak_is_bound && r->peak_known)
		note_say(r, PTT_NOTE_PEAK_BOUND,
			 "Peaks of outstanding requests are upper bounds: several threads counted the trace.");
}

static const char *as_far_as_told(const struct ptt_report *r)
{
	return r->wraps ? ", as far as 11 bits of time tell" : "";
}

/* Requests of the last moments may only have been cut off by the end. */
static void note_in_flight(const struct ptt_stats *s, struct ptt_report *r)
{
	uint32_t last = ptt_hist_bucket(s->latency.most);
	uint64_t young = 0;

	if (s->latency.n == 0)
		return;
	for (uint32_t i = 0; i <= last; i++)
		young += s->open_age.bucket[i];
	if (young != 0)
		note_say(r, PTT_NOTE_IN_FLIGHT,
			 "%llu of %llu unanswered requests may have been in flight at the end: they were no older "
			 "than the slowest answered one%s.",
			 (ull)young, (ull)r->fault_count[PTT_FAULT_UNANSWERED], as_far_as_told(r));
}

static void note_duplicates(struct ptt_report *r)
{
	if (r->duplicates != 0)
		note_say(r, PTT_NOTE_DUPLICATES,
			 "%llu records are duplicates: a packet between two devices comes in at one port and goes out "
			 "at another, and this trace has both. Each counts once.",
			 (ull)r->duplicates);
	if (r->twice_unsure)
		note_say(r, PTT_NOTE_TWICE_UNSURE,
			 "Some requests were seen twice, but not their completions. A request that is repeated, "
			 "with the same tag, looks so: then it is no duplicate, and the one before "
			 "was given up. So duplicates, requests, errors and latencies are approximate.");
	if (r->posted_twice != 0)
		note_say(r, PTT_NOTE_POSTED_TWICE,
			 "Up to %llu of %llu posted requests may be duplicates. A posted request has no completion "
			 "that would show it, and two interrupts look alike, so all are counted: writes between "
			 "devices may count twice.",
			 (ull)r->posted_twice, (ull)r->cls[TLP_P]);
}

void stats_notes(const struct ptt_stats *s, struct ptt_report *r)
{
	if (r->records == 0) {
		note_say(r, PTT_NOTE_EMPTY, "There are no records.");
		return;
	}
	note_matching(r);
	note_direction(r);
	note_unknown_direction(r);
	note_silent(r);
	note_may_miss(r);
	note_duplicates(r);
	note_time(r);
	note_cuts(s, r);
	note_in_flight(s, r);
}
