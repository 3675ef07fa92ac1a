/* stats_int.h: the insides of the statistics: stats*.c. */
#ifndef TALLY_PTT_STATS_INT_H
#define TALLY_PTT_STATS_INT_H

#include <string.h>

#include "ptt/stats.h"

enum { TYPES = 64, STATS_BANKS = 256, STATS_BANKS_FIRST = 4 };

/* ---- rows found by key (stats_table.c) -----------------------------------------------------------
 * Open addressing from a key to the number of a row; rows never move and never go. Row PTT_STATS_ROWS takes
 * all that came too late. */
struct row_index {
	uint64_t key[4 * PTT_STATS_ROWS]; /* of what lies there, + 1; 0: empty */
	uint16_t row[4 * PTT_STATS_ROWS];
	uint64_t of_row[PTT_STATS_ROWS]; /* the key of each row */
	uint32_t n;                      /* rows in use, the last one aside */
};
uint32_t row_new(struct row_index *x, uint64_t key);
static inline uint32_t row_of(struct row_index *x, uint64_t key)
{
	uint32_t i = (uint32_t)(key * 0x9e3779b97f4a7c15ull >> 52);

	static_assert(4 * PTT_STATS_ROWS == 1 << 12, "the shift above");
	while (x->key[i] != key + 1) {
		if (x->key[i] == 0)
			return row_new(x, key);
		i = (i + 1) % (4 * PTT_STATS_ROWS);
	}
	return x->row[i];
}

/* ---- what is frequent among very many (stats_table.c) ----------------------------------------------
 * Addresses behind two devices have nothing in common, so a key is the address, or the number of its page, plus
 * place_key() of the device: 58 bits and 6, and never 0.  (Addresses beyond 2^58, which nobody has, may meet those of
 * another device.) */
static_assert(PTT_STATS_DEVICES == 1 << 6, "the bits above");
static inline uint64_t place_key(uint32_t device)
{
	return 1 + ((uint64_t)(device < PTT_STATS_DEVICES ? device : PTT_STATS_DEVICES - 1) << 58);
}

enum { PAGE_READ, PAGE_WRITE };     /* enabled bytes */
enum { TARGET_FIRST, TARGET_LAST }; /* times */
struct sketch_entry {
	uint64_t key, n; /* key 0: empty */
	uint64_t sum[2]; /* the user's: PAGE_* or TARGET_* */
	uint64_t owner;  /* requester_key() */
	bool several;    /* owners */
};
struct sketch {
	struct sketch_entry *entry, *spare;
	uint32_t mask, shift, room, used;
	uint64_t error; /* no count is further below the truth */
};
int sketch_open(struct sketch *k, uint32_t room);
void sketch_close(struct sketch *k);
struct sketch_entry *sketch_find(const struct sketch *k, uint64_t key); /* NULL: it is not there */
struct sketch_entry *sketch_new(struct sketch *k, uint64_t key);
/* The entry of key; n is 0 when it is new, and must not stay so. */
static inline struct sketch_entry *sketch_at(struct sketch *k, uint64_t key)
{
	uint32_t i = (uint32_t)(key * 0x9e3779b97f4a7c15ull >> k->shift);

	while (k->entry[i].key != key) {
		if (k->entry[i].key == 0)
			return sketch_new(k, key);
		i = (i + 1) & k->mask;
	}
	return &k->entry[i];
}
/* Whose it is, before n is added. */
void sketch_share(struct sketch_entry *e, uint64_t owner);
static inline void sketch_own(struct sketch_entry *e, uint64_t owner)
{
	if (e->owner != owner)
		sketch_share(e, owner);
}
/* Entries in use first, most frequent first. Nothing can be added after that. Returns how many. */
uint32_t sketch_sort(struct sketch *k);

/* ---- the time line (stats_time.c) --------------------------------------------------------------------- */
struct stats_device {
	/* the bin of now; bin_end 0: to be looked up */
	struct ptt_bin *bin;
	uint64_t *bin_ticks; /* outstanding requests in it, as in struct time_line */
	uint64_t bin_from, bin_end;
	struct ptt_clock clock;
	uint64_t level, level_since; /* outstanding requests, and the time up to which they are in the bins */
	uint64_t peak, level_ticks;  /* level_ticks: sum over all bins, by finish */
	uint64_t peak_most; /* while requesters were not answered that were later, no more was open than this */
	uint64_t cls[4];
	uint64_t gaps, duplicates;
	uint64_t strays;              /* records whose Time is out of order */
	uint64_t ahead;               /* ticks that the clock is ahead of Time, which went back */
	bool moved;                   /* it was ahead of Time: the times of some records are not those of the clock */
	bool late;                    /* its last data comes late: what follows it was before */
	uint64_t first_offset;        /* of its first record */
	uint32_t breaks;              /* places of s->opts.breaks that it has passed: two of each */
	uint64_t config, requestless; /* of its event; completions whose requests it can't show */
	uint8_t coverage;             /* enum ptt_coverage: bits */
	uint8_t format, time;
	bool time_sure, sparse;
};
/* A requester none of whose requests was answered so far: what it has open is known apart, until it is answered, or for
 * good. */
struct stats_unheard {
	struct stats_unheard *next; /* of the time line */
	uint32_t device;
	uint64_t level, peak, since, requests;
	uint64_t oldest; /* at the end: the greatest age of what it has open */
	/* Requests that were taken for duplicates, and taken back. Nobody's answer proves it so far. The first are
	 * kept. */
	struct tlp *again;
	uint32_t nagain, capagain;
	uint64_t more; /* others, which stayed counted */
	uint64_t ticks[PTT_STATS_BINS], opened[PTT_STATS_BINS];
	uint32_t fault[PTT_TRACK_BLOCKS]
		      [PTT_FAULT_EVICTED + 1]; /* of its requests, in blocks of the whole, when it is tracked */
};
struct time_line {
	uint64_t width;
	uint32_t used;                      /* bins up to the last that was touched */
	uint32_t devices;                   /* up to the last that has ticks */
	struct ptt_bin bin[PTT_STATS_BINS]; /* outstanding_ticks: by finish */
	uint64_t ticks[PTT_STATS_DEVICES]
		      [PTT_STATS_BINS]; /* the outstanding requests of each device, summed over time */
	struct stats_unheard *unheard;
};
void line_align(struct time_line *into, struct time_line *from); /* bins of one width */
void line_merge(struct time_line *into, struct time_line *from); /* that are so */
void line_finish(struct ptt_stats *s); /* what is known of each device becomes what bins say */

/* ---- all of it --------------------------------------------------------------------------------- */
/* Types that are counted in cells; bit 0: with a 64-bit address. SORT_OTHER: all else. */
enum { SORT_MRD32, SORT_MRD64, SORT_MWR32, SORT_MWR64, SORT_CPLD, SORT_OTHER };
/* Of a Fmt and Type. */
struct stats_head {
	uint8_t sort;
	uint8_t id_at;   /* where in the header the DW with the requester's id is, in bytes */
	uint8_t matched; /* 1 or 0, of any type: a non-posted request or a completion */
	uint8_t shift;   /* what takes the address down from DW2:DW3 */
};
/* The cells of a requester, in one format, and what they don't say. */
struct stats_requester;
struct stats_bank {
	struct stats_requester *requester;
	uint32_t device;
	uint16_t id;
	bool wide;
};
enum {
	BANK_CELLS = (1 << 14) + 5 * 16
}; /* no power of two: the same cells of all banks would share a set of the cache */
struct stats_type {
	uint64_t tlps, dws, bytes, relaxed, posted_twice;
};
struct stats_requester {
	uint64_t kind[PTT_KINDS];    /* packets */
	uint64_t bytes[PTT_KINDS];   /* PTT_READ: asked for, after byte enables; PTT_WRITE, PTT_COMPLETION: payload */
	uint32_t largest[PTT_KINDS]; /* of one packet, in whole DWs, of the same */
	uint32_t outstanding, peak;
	uint64_t answered, unanswered, given_up, failed, cut;
	uint64_t evicted;           /* of given_up */
	uint64_t unanswerable;      /* by finish: of the above those that can't be answered here */
	uint64_t doubts, doubt_age; /* requests seen twice, answered once or not at all; at the end: the oldest such */
	uint64_t posted_twice;      /* its posted requests that may be duplicates, at most */
	uint64_t config;            /* of its reads and writes: those of configuration space */
	struct stats_unheard *unheard; /* NULL: it asked nothing, or was answered */
	uint8_t faults[PTT_FAULTS];    /* kept, up to PTT_STATS_SAMPLE */
	bool heard; /* a completion answered it; or its device can't show who is answered, and asks nobody */
	struct ptt_hist *latency;
};
struct stats_completer {
	uint64_t bytes, status[8];
	uint64_t duplicates; /* of its completions, which a device's alone have */
	uint32_t largest;
	struct ptt_hist *latency;
};
/* That records are missing: a request whose answer is, or a completion whose request is. */
struct stats_sign {
	uint64_t offset, key;
	/* of a lost answer and an unexpected completion of one tag: the other's offset; or SIGN_ALONE */
	uint64_t partner;
	uint32_t device;
	bool lost;
};
#define SIGN_ALONE UINT64_MAX
#define SIGN_MISFIT (1ull << 63) /* of a key: a request and a completion that were taken for each other's */
/* Where a completion ends that is not its read's last. */
enum { END_LAST, END_128, END_64, END_ODD, ENDS };
struct stats_report;
struct stats_enables {
	uint8_t disabled; /* bytes that they leave out */
	uint8_t whole;    /* 1: nothing of one DW */
};
struct ptt_stats {
	/* set by open */
	struct ptt_stats_opts opts;
	uint8_t kind[TYPES], size_of[TYPES]; /* enum ptt_kind, PTT_SIZE_*; PTT_SIZES: none */
	bool memory[TYPES];                  /* has an address in memory */
	uint32_t payload[TYPES];             /* all ones: it has data */
	struct stats_head head[2][256];      /* by tag14, and Fmt << 5 | Type */
	struct stats_enables enables[512];   /* by byte enables, from 256 on of requests of one DW */
	/* how far it is */
	bool failed; /* memory ran out */
	bool merged, settled;
	uint64_t chunks;
	/* banks of cells (stats_cell.c); number 0 is none */
	uint32_t *cell; /* bank_room times BANK_CELLS */
	uint32_t bank_room;
	struct stats_bank bank[STATS_BANKS];
	uint64_t bank_disabled[STATS_BANKS][4]; /* that byte enables leave out, by sort of request */
	uint64_t bank_completed[STATS_BANKS];   /* payload of completions */
	uint32_t nbanks;
	uint64_t cell_records; /* that cells may hold */
	/* banks by requester, 0: none, of one device in one format: a cache of `bank` */
	uint16_t near[1 << 16];
	uint32_t near_device;
	bool near_wide;
	struct ptt_match *match; /* NULL: no matching */
	struct stats_device device[PTT_STATS_DEVICES];
	/* what there was */
	uint64_t padding, extra_bytes; /* extra: prefixes and digests */
	struct stats_type type[TYPES];
	struct row_index requesters, completers;
	struct stats_requester *requester; /* PTT_STATS_ROWS + 1 of each */
	struct stats_completer *completer;
	uint64_t size[PTT_SIZES + 1][1025];
	uint64_t ends[ENDS], pieces[17];
	struct sketch pages, targets; /* pages: a read, b written; targets: a first, b last */
	uint64_t message_code[256], fault_count[PTT_FAULTS];
	uint32_t nmessages, nfaults[PTT_FAULTS];
	struct ptt_message_row message[PTT_STATS_LOG];
	struct ptt_fault_row fault[PTT_FAULTS][PTT_STATS_SAMPLES];
	struct ptt_fault_row *error; /* all, with all_errors */
	uint32_t nerrors, caperrors;
	uint64_t requests, answered, failed_requests, cut, after_gap, unanswerable;
	uint64_t posted_twice;   /* posted requests that may be duplicates, at most */
	struct ptt_twice *twice; /* NULL: no record that may be one was seen */
	uint64_t misfits;        /* reads that got other data than they asked for */
	uint64_t broken;         /* reads whose answer began and did not end, where others' answers can't be seen */
	uint64_t oldest; /* at the end: the greatest age of a request that is open, and its answer should be here */
	uint64_t gap_bytes;
	uint32_t ngaps;
	struct ptt_gap_row gap[PTT_STATS_LOG];
	struct ptt_hist latency, latency_first; /* latency: by stats_settle(), of all requesters */
	struct ptt_hist open_age;               /* how old unanswered requests were at the end */
	struct time_line line;
	struct stats_sign *sign;
	uint32_t nsigns, capsigns;
	bool too_many_signs;
	bool place_unknown;          /* records are missing, and nothing says for certain where */
	struct stats_track *track;   /* NULL: nobody compares */
	struct stats_report *report; /* made by finish */
};

static inline struct stats_device *device_at(struct ptt_stats *s, uint32_t device)
{
	return &s->device[device < PTT_STATS_DEVICES ? device : PTT_STATS_DEVICES - 1];
}

/* Of a requester. Those that have no row of their own are as the first device's are. */
static inline const struct stats_device *device_of_row(const struct ptt_stats *s, uint32_t row)
{
	uint64_t device = row < s->requesters.n ? s->requesters.of_row[row] >> 32 : 0;

	return &s->device[device < PTT_STATS_DEVICES ? device : PTT_STATS_DEVICES - 1];
}

static inline uint64_t requester_key(uint32_t device, uint16_t segment, uint16_t requester)
{
	return (uint64_t)device << 32 | (uint32_t)segment << 16 | requester;
}

static inline uint64_t completer_key(uint32_t device, uint16_t completer)
{
	return (uint64_t)device << 16 | completer;
}

static inline struct stats_requester *requester_at(struct ptt_stats *s, uint64_t key)
{
	return &s->requester[row_of(&s->requesters, key)];
}

static inline struct stats_completer *completer_at(struct ptt_stats *s, uint64_t key)
{
	return &s->completer[row_of(&s->completers, key)];
}

/* stats.c.  Everything of a decoded record but the time line, matching and fault_rare().  Returns the row of its
 * requester, NULL when it has none. */
struct stats_requester *count_record(struct ptt_stats *s, struct stats_device *d, const struct tlp *t);
/* Takes back what that counted, and the record's part of the time line: it is the duplicate of its packet. And counts
 * it again: it is none. */
void count_back(struct ptt_stats *s, struct stats_device *d, struct stats_requester *r, const struct tlp *t);
void count_again(struct ptt_stats *s, struct stats_device *d, struct stats_requester *r, const struct tlp *t);
/* stats_cell.c */
int cells_open(struct ptt_stats *s);
void cells_near(struct ptt_stats *s, uint32_t device, bool wide);
uint32_t bank_new(struct ptt_stats *s, uint16_t id); /* 0: there is no room for another one */
void cells_settle(struct ptt_stats *s);              /* what cells hold is counted, and they are empty */
/* stats_time.c */
struct ptt_bin *bin_find(struct ptt_stats *s, struct stats_device *d, uint64_t time);
struct ptt_bin *bin_of(struct ptt_stats *s, uint64_t time); /* the device stays in its own */
static inline struct ptt_bin *bin_at(struct ptt_stats *s, struct stats_device *d, uint64_t time)
{
	return time >= d->bin_from && time < d->bin_end ? d->bin : bin_find(s, d, time);
}
/* What is outstanding changes by `by`, 1 or -1, or the time goes on. */
void level_keep(struct ptt_stats *s, struct stats_device *d, uint64_t time);
static inline void level_add(struct ptt_stats *s, struct stats_device *d, uint64_t time, int by)
{
	if (time < d->bin_end && d->level_since >= d->bin_from && time >= d->level_since)
		*d->bin_ticks += d->level * (time - d->level_since);
	else
		level_keep(s, d, time);
	d->level_since = time;
	d->level += (uint64_t)(int64_t)by;
	if (d->level > d->peak)
		d->peak = d->level;
	if (d->level > d->bin->outstanding_peak)
		d->bin->outstanding_peak = (uint32_t)d->level;
}
/* Of a device that can't show who is answered, a request is outstanding once it was answered: from its own time to
 * `time`. */
void level_answered(struct ptt_stats *s, struct stats_device *d, uint64_t asked, uint64_t time);
/* What a requester has open changes: it counts for the device once the requester was answered. */
void unheard_open(struct ptt_stats *s, struct stats_device *d, struct stats_requester *r, uint64_t time); /* one more */
void unheard_close(struct ptt_stats *s, struct stats_requester *r, uint64_t time);                        /* one less */
void unheard_answered(struct ptt_stats *s, struct stats_device *d, struct stats_requester *r, uint64_t time);
/* A request of it was taken for a duplicate. Returns whether it is to be taken back. */
bool unheard_duplicate(struct ptt_stats *s, struct stats_requester *r, const struct tlp *t);
void unheard_settle(struct ptt_stats *s, struct stats_requester *r, uint64_t end); /* brings its bins up to the end */
void unheard_fold(struct ptt_stats *s, struct stats_requester *r);                 /* its bins become the device's */
void unheard_merge(struct ptt_stats *s, struct stats_requester *into, struct stats_requester *from);
void unheard_free(struct stats_unheard *q); /* NULL is fine */
static inline bool hides_answers(const struct stats_device *d)
{
	return d->coverage & PTT_COVERAGE_NO_COMPLETIONS;
}
static inline void level_drop(struct ptt_stats *s, struct stats_device *d, struct stats_requester *r, uint64_t time)
{
	if (hides_answers(d))
		return;
	if (r->unheard != NULL)
		unheard_close(s, r, time);
	else
		level_add(s, d, time, -1);
}
/* stats_match.c */
/* t was opened by match_request(), which said `what` and gave given_up up, or NULL. */
void count_request(struct ptt_stats *s, struct stats_device *d, struct stats_requester *r, enum ptt_event what,
		   const struct tlp *t, const struct ptt_pair *given_up);
/* Of a request that was answered: all but the level, and bin->done. */
void count_latency(struct ptt_stats *s, struct ptt_bin *b, struct stats_requester *r, struct stats_completer *c,
		   const struct ptt_pair *p);
/* A read got other data than it asked for, with the completion at that offset: a sign of missing records. */
void count_misfit(struct ptt_stats *s, struct stats_device *d, const struct tlp *request, uint64_t offset);
/* match_completion() said PTT_DONE. */
void count_done(struct ptt_stats *s, struct stats_device *d, struct stats_requester *r, uint64_t time,
		const struct ptt_pair *p);
/* Both, for a decoded request or completion, which was counted; of a duplicate that is taken back. Returns the pair
 * that it ended, or NULL; good until the next call. */
const struct ptt_pair *count_matched(struct ptt_stats *s, struct stats_device *d, const struct tlp *t,
				     struct stats_requester *r, bool *second);
/* Records of the device are missing before c. time: enum ptt_time of its records. */
void count_gap(struct ptt_stats *s, struct stats_device *d, const struct ptt_chunk *c, uint8_t time);
void stats_mark_unanswerable(struct ptt_stats *s); /* after the end: whose requests can't be answered here */
void stats_settle(struct ptt_stats *s); /* the end: what is open is unanswered, what is cached is written back */
/* stats_fault.c.  The request of a pair is known with it; NULL: it isn't. */
void fault_add(struct ptt_stats *s, enum ptt_fault f, const struct tlp *t, const struct ptt_pair *pair);
void fault_keep(struct ptt_stats *s, const struct ptt_fault_row *row);
void fault_rare(struct ptt_stats *s, const struct tlp *t, const struct ptt_pair *pair);
/* what is kept, as a report shows it; returns how many */
uint32_t fault_rank(struct ptt_stats *s, struct ptt_fault_row *to);
void fault_sort_all(struct ptt_stats *s);
void fault_forget(struct ptt_stats *s); /* of requests that can't be answered */
void message_add(struct ptt_stats *s, const struct tlp *t);
void message_keep(struct ptt_stats *s, const struct ptt_message_row *row);
/* stats_hist.c */
static inline uint32_t hist_bucket(uint64_t v)
{
	uint32_t shift = 63 - PTT_HIST_BITS - (uint32_t)__builtin_clzll(v | 1u << PTT_HIST_BITS);
	return (shift << PTT_HIST_BITS) + (uint32_t)(v >> shift);
}
static inline void hist_put(struct ptt_hist *h, uint64_t v, uint32_t bucket)
{
	if (v < h->least || h->n == 0)
		h->least = v;
	if (v > h->most)
		h->most = v;
	h->n++;
	h->sum += v;
	h->bucket[bucket]++;
}
struct ptt_hist *hist_new(struct ptt_stats *s); /* NULL, and s->failed, when memory is out */
/* stats_track.c; only where there is s->track */
struct stats_track;
int track_open(struct ptt_stats *s);
void track_close(struct stats_track *k);
void track_records(struct ptt_stats *s, struct stats_device *d, uint64_t n); /* so many of the device were counted */
void track_settle(struct ptt_stats *s);                                      /* once cells are settled for good */
/* One of its requests is a fault for now: of a requester that wasn't answered, kept apart till it is known whether it
 * can be. */
void track_fault(struct ptt_stats *s, struct stats_requester *r, enum ptt_fault f);
void track_forget_faults(struct ptt_stats *s, const struct stats_unheard *q); /* they are none */
void track_merge(struct ptt_stats *into, const struct ptt_stats *from);
struct ptt_track track_of(const struct ptt_stats *s, uint32_t row);
void track_report(const struct ptt_stats *s, struct ptt_report *r);
/* stats_break.c */
void break_sign(struct ptt_stats *s, const struct tlp *t, bool lost, bool misfit);
void break_merge(struct ptt_stats *into, const struct ptt_stats *from);
/* Cuts the chunk in front of the next place of a break: *rest is what is behind it. Returns its bytes; 0: there is none
 * in it. */
size_t break_cut(struct ptt_stats *s, struct stats_device *d, struct ptt_chunk *c, struct ptt_chunk *rest);
/* stats_note.c */
void stats_notes(const struct ptt_stats *s, struct ptt_report *r);
/* stats_report.c */
void stats_report_free(struct stats_report *r);

#endif
