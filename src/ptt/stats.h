/*
 * stats.h: what a trace of TLPs says, as plain tables.
 *
 * One object counts (struct ptt_stats), one is read (struct ptt_report).  Counting sees each record
 * once, in file order, and keeps a bounded amount of memory; what had to be cut says so in its own
 * field.  Everything in a report is sorted and borrowed from the statistics it was made from.
 *
 * Threads: one ptt_stats each, never shared.  To use n of them give `shard` i of `shards` n, hand
 * *every* chunk to every one (each counts its share and follows the clocks through the rest), and
 * merge.  All figures are then the same as with one, but for the peaks of outstanding requests,
 * which are upper bounds (peak_is_bound), for tables that were cut, for pages and targets that were too
 * many to be exact, and for requests that were evicted: each shard has room for as many.
 *
 * Units: times and latencies are ticks of the PCIe core, counted from the first record of the device;
 * sizes are bytes.  A file without a time unit gives none in seconds.
 */
#ifndef TALLY_PTT_STATS_H
#define TALLY_PTT_STATS_H

#include "ptt/ptt.h"

/* ---- histogram: log-linear, 128 buckets in each power of two -------------------------------------
 * Buckets 0-127 hold one value each; from there on the bucket of v is v's power of two and the 7 bits below its top
 * bit. So a value is known to 1 part in 128 or better, whatever its size, and the memory is the same for any number of
 * values. ptt_hist_least() and ptt_hist_most() turn a bucket back into values: a distribution is read, compared or
 * resampled by going through the buckets. */
#define PTT_HIST_BITS 7
#define PTT_HIST_BUCKETS ((64 - PTT_HIST_BITS + 1) << PTT_HIST_BITS)
struct ptt_hist {
	uint64_t n, sum, least, most; /* all exact: sum / n is the mean; least and most are 0 when n is 0 */
	uint64_t bucket[PTT_HIST_BUCKETS];
};
uint32_t ptt_hist_bucket(uint64_t v);
uint64_t ptt_hist_least(uint32_t bucket); /* smallest and largest value of a bucket */
uint64_t ptt_hist_most(uint32_t bucket);
void ptt_hist_add(struct ptt_hist *h, uint64_t v);
void ptt_hist_merge(struct ptt_hist *into, const struct ptt_hist *from);
/* The value that per_mille thousandths of all values do not exceed: the most of its bucket, and never above
 * h->most. 0 when h is NULL or empty. 500 is the median. */
uint64_t ptt_hist_at(const struct ptt_hist *h, uint32_t per_mille);
/* What that value is at least: the least of its bucket, and never below h->least. */
uint64_t ptt_hist_at_least(const struct ptt_hist *h, uint32_t per_mille);

/* A few figures of a distribution, each to a fraction of a bucket: the mean of what lies between the 5th and the 95th
 * percentile, and percentiles. Of what h got since it was `since`; NULL: of all. 0 when there is nothing. */
enum ptt_place { PTT_AT_MIDDLE, PTT_AT_P10, PTT_AT_P50, PTT_AT_P90, PTT_AT_P99, PTT_PLACES };
double ptt_hist_quantile(const struct ptt_hist *h, double share); /* the value that a share from 0 to 1 lies below */
void ptt_hist_places(const struct ptt_hist *h, const struct ptt_hist *since, double at[static PTT_PLACES]);

/* ---- counting ----------------------------------------------------------------------------------- */
enum {
	PTT_STATS_ROWS = 1024,      /* requesters, and completers; the rest are one row */
	PTT_STATS_PAGES = 4096,     /* room of the sketch of address pages */
	PTT_STATS_TARGETS = 1024,   /* and of addresses that get single writes */
	PTT_STATS_BINS = 300,       /* of the time line, at most */
	PTT_STATS_LOG = 64,         /* messages and gaps that are kept */
	PTT_STATS_SAMPLE = 4,       /* errors of each kind and requester that are kept, */
	PTT_STATS_SAMPLES = 256,    /* and of each kind */
	PTT_STATS_ERRORS = 1 << 20, /* with all_errors, of all */
	PTT_STATS_DEVICES = 64,     /* devices with a row; records of others are counted as the last one's */
};
/* Records of the device are missing between two places of the file, or at one, though nothing says so: from behind the
 * last request that shows it to the first completion that does. */
struct ptt_break {
	uint64_t from, to;
	uint32_t device;
};
enum { PTT_BREAKS = 64 }; /* at most */
struct ptt_stats;
struct ptt_stats_opts {
	bool match;                /* requests meet completions */
	uint32_t most_outstanding; /* 0: 65536 */
	uint32_t shard, shards;    /* 0, 0: alone */
	bool track;      /* figures in blocks of time too, for ptt_compare(); with shards only when it matches */
	bool all_errors; /* keep each, not a sample */
	const struct ptt_break *breaks; /* by device and place; the caller's, as long as chunks are counted */
	uint32_t nbreaks;
};
int ptt_stats_open(struct ptt_stats **ret, const struct ptt_stats_opts *o); /* NULL: all defaults, no matching */
void ptt_stats_close(struct ptt_stats *s);
/* What is known of a device's time, for the report; before finish. sparse: ptt_time_is_sparse() of any of its data. */
void ptt_stats_time(struct ptt_stats *s, uint32_t device, enum ptt_time time, bool sure, bool sparse);
/* Counts a chunk of whole records straight from its bytes. o->format must be the chunk's; the clock of each
 * device is kept inside. All-zero records are counted as padding and skipped. With c->gap what the device has open is
 * cut off first. */
void ptt_stats_chunk(struct ptt_stats *s, const struct ptt_chunk *c, const struct ptt_decode_opts *o);
/* Adds `from` to `into`, which must both be of the same options but for shard, and not finished; `from` is only
 * good for closing after that. */
int ptt_stats_merge(struct ptt_stats *into, struct ptt_stats *from);

/* Before finish: records are missing, and nothing says where. */
void ptt_stats_missing(struct ptt_stats *s);

/* Before finish: breaks that matching found. Who finds some counts the trace again with them, as they are known only
 * from what comes later. Returns how many. */
uint32_t ptt_stats_breaks(struct ptt_stats *s, struct ptt_break to[static PTT_BREAKS]);

/* ---- figures in blocks of time (stats_track.c) ----------------------------------------------------- */
enum { PTT_TRACK_BLOCKS = 64, PTT_TYPES = 64 };
enum ptt_series {
	PTT_SERIES_REQUESTS, /* reads, writes and atomics */
	PTT_SERIES_WRITTEN,
	PTT_SERIES_READ, /* bytes, as of ptt_requester_row */
	PTT_SERIES_ANSWERED,
	PTT_SERIES_LATENCY, /* those that went well, and the sum of their latencies */
	PTT_SERIES
};
struct ptt_block {
	uint64_t figure[PTT_SERIES];
	double at[PTT_PLACES]; /* of the latencies; 0 when there are none */
};
/* A histogram of a block: 16 buckets in each power of two. */
enum { PTT_COARSE_BITS = 4, PTT_COARSE = (64 - PTT_COARSE_BITS + 1) << PTT_COARSE_BITS, PTT_COARSE_ROWS = 128 };
uint64_t ptt_coarse_least(uint32_t bucket);
/* of one requester; n is 0 when nobody tracked */
struct ptt_track {
	const struct ptt_block *block;
	const uint32_t (
		*coarse)[PTT_COARSE]; /* of each block; NULL: not of this one, there are more than PTT_COARSE_ROWS */
	const uint64_t *ticks;        /* of each block */
	uint32_t n;
};

/* ---- the report ------------------------------------------------------------------------------------ */
enum ptt_kind { PTT_READ, PTT_WRITE, PTT_ATOMIC, PTT_MESSAGE, PTT_COMPLETION, PTT_RESERVED, PTT_KINDS };

/* What a link carried. */
struct ptt_traffic {
	uint64_t tlps;
	uint64_t payload_bytes; /* whole DWs, as on the link */
	uint64_t useful_bytes;  /* payload without disabled bytes */
	uint64_t header_bytes;  /* header, prefix and digest */
	uint64_t framing_bytes; /* 8 a packet: sequence number, LCRC and framing */
};
struct ptt_device_row {
	uint32_t device;
	uint64_t records, record_bytes;
	uint64_t posted, non_posted, completions;
	uint64_t span; /* ticks from the first to the last record */
	/* it may have been longer, and so may every time: short times, deltas, or missing records */
	bool span_at_least;
	bool wraps;  /* 11 bits of time: between any two records whole turns of 2048 ticks may be missing */
	bool sparse; /* and some certainly are */
	bool moved;  /* data came late: times behind it are not those of its clock */
	uint64_t outstanding_ticks; /* with matching: / span is the mean of its outstanding requests */
	uint32_t outstanding_peak;
	uint8_t format; /* enum ptt_format */
	uint8_t time;   /* enum ptt_time: PTT_TIME_AUTO when nobody said */
	bool time_sure;
	uint64_t strays;      /* records whose Time is out of order: they count as at the time of the one before */
	uint64_t duplicates;  /* of records: duplicates of packets between peers, counted nowhere else */
	uint64_t config;      /* of its event; 0: not known */
	uint64_t requestless; /* completions whose requests its direction can't show, counted apart */
	bool hides_answers;  /* its direction can't show the completions of some requests, and nothing tells of which */
	uint64_t answerable; /* with matching: its requests that can be answered in this trace */
	bool mean_known;     /* of its outstanding requests: it has such requests, and is not sparse */
	bool peak_known;     /* of the same: it has such requests, and hides no answers */
	bool peak_at_least;  /* before some requesters were answered for the first time more may have been open */
	uint64_t gaps;       /* places where records are missing: span is at least so long */
};
/* A place where records of a device are missing. */
struct ptt_gap_row {
	uint64_t time, offset; /* of the last record before it; where in the file the first one behind it is */
	uint64_t bytes;        /* so many are missing at least; 0: not known */
	uint64_t passed;       /* so many are there, and make no record */
	uint64_t cut;          /* requests that were open */
	uint64_t until;        /* of the first record behind it; 0: not known */
	uint32_t device;
	uint8_t why; /* enum ptt_gap_why */
};
struct ptt_type_row {
	uint8_t type_index; /* row of tlp_type.def */
	uint8_t kind;       /* enum ptt_kind */
	uint64_t tlps;
	uint64_t dws;          /* sum of the lengths of packets with data and of reads */
	uint64_t bytes;        /* the same in bytes, after byte enables */
	uint64_t relaxed;      /* with relaxed ordering */
	uint64_t posted_twice; /* of the packets those that may be duplicates of others, at most */
};
struct ptt_requester_row {
	bool others; /* the row of all that had no room */
	uint32_t device;
	uint16_t segment, requester;
	uint64_t tlps, kind[PTT_KINDS];       /* completions: those that came back to it */
	uint64_t written_bytes;               /* payload of its writes, after byte enables */
	uint64_t asked_bytes;                 /* what its reads asked for, after byte enables */
	uint64_t read_bytes;                  /* payload of the completions to it */
	uint32_t largest_write, largest_read; /* of one packet, in bytes of whole DWs */
	/* with matching: */
	uint64_t answered, failed; /* failed: answered, but not with SC */
	uint64_t unanswered;       /* open at the end */
	uint64_t given_up;         /* their tag was used again, or too many were open */
	uint64_t cut;              /* open where records are missing */
	uint64_t unanswerable;     /* not answered, as their completions can't be in this trace */
	uint64_t posted_twice;     /* posted requests that may be duplicates of others, at most: they are counted */
	uint64_t config;           /* of its reads and writes: those of configuration space */
	uint32_t outstanding_peak; /* when peak_known */
	bool peak_known;
	const struct ptt_hist *latency; /* to the last completion of those that went well; or NULL */
	struct ptt_track track;
};
struct ptt_completer_row {
	bool others;
	uint32_t device;
	uint16_t completer;
	uint64_t completions, bytes;
	uint64_t status[8];             /* by completion status */
	uint32_t largest;               /* payload of one completion */
	const struct ptt_hist *latency; /* as above, by the completer of the last completion */
};
/* A 4 KiB page of one device's addresses that memory requests and atomics touch. With pages_exact false, counts are at
 * most pages_error TLPs too low and pages not shown have at most that many: a frequent-items sketch. */
struct ptt_page_row {
	uint64_t address;                         /* of the page */
	uint64_t tlps, read_bytes, written_bytes; /* in whole DWs */
	uint32_t device;
	uint16_t requester; /* who it was */
	bool several;       /* not alone: the one above has the least numbers of them */
};
/* A place behind one device that got whole writes of one DW, two or more: MSIs, or doorbells. Headers do not tell
 * which. */
struct ptt_target_row {
	uint64_t address, writes, first, last;
	uint32_t device;
	uint16_t requester;
	bool several;
	bool x86_msi;           /* 0xfeexxxxx */
	uint64_t mean_interval; /* (last - first) / (writes - 1) */
};
struct ptt_message_row {
	uint64_t time, offset;
	uint32_t device;
	uint16_t requester;
	uint8_t code, route;
};
/* What weighs most comes first. */
enum ptt_fault {
	PTT_FAULT_UNANSWERED,
	PTT_FAULT_REUSED,  /* with matching only */
	PTT_FAULT_EVICTED, /* a request given up because more were outstanding than there is room for */
	PTT_FAULT_UR,
	PTT_FAULT_CA,
	PTT_FAULT_CRS,
	PTT_FAULT_STATUS,   /* completion status; the last: reserved values */
	PTT_FAULT_RESERVED, /* no such type */
	PTT_FAULT_POISONED,
	PTT_FAULT_UNEXPECTED_CPL, /* with matching only */
	PTT_FAULTS
};
const char *ptt_fault_name(enum ptt_fault f); /* "unsupported request", ... */
struct ptt_fault_row {
	uint8_t fault;
	uint8_t nth;      /* of its kind and requester, from 0; 255: and more, or it may only have been under way */
	bool has_request; /* request, address, latency are known */
	uint64_t time, offset; /* of the packet that shows it; of unanswered requests: theirs */
	uint32_t device, tag;
	uint16_t segment, requester, completer;
	uint8_t type_index; /* of that packet */
	uint8_t request_type_index;
	uint64_t request_offset, address; /* of configuration requests: the register, in completer's place */
	uint64_t latency;
};
struct ptt_bin {
	uint64_t tlps, bytes;       /* packets and payload (whole DWs) */
	uint64_t opened, done;      /* answerable non-posted requests, and their last completions */
	uint64_t outstanding_ticks; /* sum over time of the outstanding requests: / width is their mean; these
	                                       * two are of one device each, the one that has most */
	uint32_t outstanding_peak;
	uint32_t latency[64]; /* by log2 of the latency of those done: [k] is [2^k, 2^(k+1)), [0] also 0 */
};
/* Of all devices; ticks are summed over their clocks. */
struct ptt_whole_block {
	uint64_t ticks, extra_bytes; /* extra: prefixes and digests */
	uint64_t fault[PTT_FAULTS];
	struct {
		uint64_t tlps, dws, bytes, relaxed;
	} type[PTT_TYPES]; /* as of ptt_type_row */
};
enum { PTT_SIZE_READ, PTT_SIZE_WRITE, PTT_SIZE_COMPLETION, PTT_SIZES };
struct ptt_split {
	uint32_t mps, mrrs;                   /* at least, in bytes: next power of two from 128 up; 0: none seen */
	uint32_t rcb;                         /* 64 or 128; 0: no read was split, so nobody knows */
	uint64_t ends_128, ends_64, ends_odd; /* where completions end that are not the last of their read */
	uint64_t pieces[17];                  /* reads by how many completions they took; [16]: more than 15 */
};
enum ptt_note {
	PTT_NOTE_NO_MATCHING,
	PTT_NOTE_NO_REQUESTS,
	PTT_NOTE_NO_COMPLETIONS,
	PTT_NOTE_OTHER_SIDE,
	PTT_NOTE_SILENT,
	PTT_NOTE_DIRECTION,
	PTT_NOTE_UNKNOWN_DIRECTION,
	PTT_NOTE_MAY_MISS,
	PTT_NOTE_NO_LATENCY,
	PTT_NOTE_TIME_UNSURE,
	PTT_NOTE_TIME_UNKNOWN,
	PTT_NOTE_TIME_DELTA,
	PTT_NOTE_TIME_GAPS,
	PTT_NOTE_TIME_ORDER,
	PTT_NOTE_4DW_FIELDS,
	PTT_NOTE_CLOCKS,
	PTT_NOTE_DUPLICATES,
	PTT_NOTE_TWICE_UNSURE,
	PTT_NOTE_POSTED_TWICE,
	PTT_NOTE_ROWS_CUT,
	PTT_NOTE_PAGES_CUT,
	PTT_NOTE_PEAK_BOUND,
	PTT_NOTE_IN_FLIGHT,
	PTT_NOTE_EVICTED,
	PTT_NOTE_EMPTY,
	PTT_NOTES
};
struct ptt_note_row {
	uint8_t note;
	char text[384];
};

struct ptt_report {
	/* overall */
	uint64_t records, record_bytes, padding;
	uint64_t duplicates;   /* as in ptt_device_row */
	uint64_t strays;       /* as in ptt_device_row */
	uint64_t posted_twice; /* so many posted requests may be duplicates, too, at most; they are counted */
	uint64_t span;         /* the longest of the devices' */
	bool span_at_least, wraps, sparse; /* of any device, as in ptt_device_row */
	uint8_t time;                      /* enum ptt_time; PTT_TIME_AUTO: unknown, or it differs */
	bool time_sure, matched;
	uint64_t kind[PTT_KINDS], cls[4]; /* packets, by enum ptt_kind and by enum tlp_class */
	struct ptt_traffic traffic;
	double efficiency; /* useful bytes per 1000 on the link */
	/* how packets use the link: whole-DW bytes of requests, and of these the enabled ones */
	uint64_t write_bytes, write_enabled, read_bytes, read_enabled;
	uint64_t ordered, relaxed; /* packets without and with relaxed ordering; reserved types aside */
	/* tables, largest first */
	const struct ptt_device_row *device;
	uint32_t ndevices; /* by number */
	const struct ptt_type_row *type;
	uint32_t ntypes; /* by tlps */
	const struct ptt_requester_row *requester;
	uint32_t nrequesters; /* by bytes */
	const struct ptt_completer_row *completer;
	uint32_t ncompleters; /* by bytes */
	const struct ptt_page_row *page;
	uint32_t npages; /* by tlps */
	bool pages_exact;
	uint64_t pages_error, pages_known;
	const struct ptt_target_row *target;
	uint32_t ntargets; /* by writes */
	bool targets_exact;
	uint64_t targets_error;
	/* sizes in whole DWs: size[PTT_SIZE_READ][n] packets of n DWs, n = 1..1024 */
	const uint64_t (*size)[1025];
	struct ptt_split split;
	/* messages: by code, and the first of them in file order */
	uint64_t message_code[256], messages;
	const struct ptt_message_row *message;
	uint32_t nmessages;
	/* where records are missing: all counted, the first kept. What was open there was cut off, and of an answer
	 * behind it whose request wasn't seen behind it too, nobody can say that it has none. */
	uint64_t gaps, gap_bytes, cut, after_gap;
	uint64_t misfits; /* reads answered with other data than they asked for: those are another's completions */
	uint64_t broken;  /* requests whose answer began and did not end, where others' answers can't be seen */
	/* Errors, or missing records that nothing tells of, or missing ones of which nobody knows where: */
	bool never_answered; /* a request was open at the end twice as long as any took that was answered */
	/* requests that were seen twice had completions that were not: each may have been asked twice, so neither
	 * duplicates nor errors are bounds */
	bool twice_unsure;
	/* those, or unexpected completions, reused tags, misfits and broken answers are left: pairs may be none, so
	 * latencies and what follows from pairs may be off, and errors are upper bounds */
	bool may_mispair;
	bool may_miss; /* either of the two */
	const struct ptt_gap_row *gap;
	uint32_t ngaps;
	/* faults: all counted, the first of each kind and requester kept. First comes one of each requester and kind,
	 * by kind, then a second one and so on, and at last requests that may only have been under way at the end. With
	 * all_errors: all, in order of kind and file. */
	uint64_t fault_count[PTT_FAULTS];
	const struct ptt_fault_row *fault;
	uint32_t nfaults;
	/* with matching */
	uint64_t requests, answered, failed; /* non-posted; failed: answered, but not with SC */
	uint64_t unanswerable; /* not in `requests`, nor in faults and outstanding requests: their completions
	                                       * go a way that isn't in the trace */
	uint64_t requestless;  /* completions whose requests go such a way; in no fault */
	const struct ptt_hist *latency, *latency_first; /* of those that went well; never NULL */
	uint32_t outstanding_peak;                      /* of one device, the one with the largest mean */
	bool mean_known, peak_known, peak_at_least;
	bool peak_is_bound;
	uint64_t outstanding_ticks, outstanding_span; /* ticks / span: its mean */
	/* time line: bins of bin_ticks from time 0 */
	const struct ptt_bin *bin;
	uint32_t nbins;
	uint64_t bin_ticks;
	/* in blocks of so many records, when it was tracked */
	const struct ptt_whole_block *whole;
	uint32_t nwhole;
	struct ptt_track whole_latency, whole_first; /* with matching; without ticks */
	/* what the trace cannot answer, and why */
	struct ptt_note_row note[PTT_NOTES];
	uint32_t nnotes;
};
/* Closes the count and fills *ret, whose pointers live as long as s does. Once. Returns 0, or -TALLY_ENOMEM also
 * when memory ran out earlier: figures would be wrong. */
int ptt_stats_finish(struct ptt_stats *s, const struct ptt_report **ret);
/* Of a device that a row of the report names. */
const struct ptt_device_row *ptt_report_device(const struct ptt_report *r, uint32_t device);

/* ---- comparing two reports (compare.c) ---------------------------------------------------------------- */
/* On a shared link: who asks for more or less, and what others feel of it. */
enum ptt_role { PTT_ROLE_NONE, PTT_ROLE_CAUSE, PTT_ROLE_CONSEQUENCE };
enum ptt_bound { PTT_BOUND_NONE, PTT_BOUND_MOST, PTT_BOUND_LEAST };
struct ptt_change {
	char what[64];    /* "latency p99", "01:00.0 bytes written" */
	const char *unit; /* "ticks", "per 1000 ticks", "bytes", "per 1000", ... */
	double a, b;
	double change;            /* b / a - 1; INFINITY when a is 0 */
	double error;             /* change is off by so much at most, 99 times of 100; INFINITY: nobody knows */
	double chance;            /* that two traces of one load differ in this figure as much; 1: nobody knows */
	bool finding;             /* it is no chance, all figures of the comparison taken together */
	bool about_a, about_b;    /* its value may be off: records may be missing from that trace, or count twice */
	uint8_t bound_a, bound_b; /* enum ptt_bound: of ticks that may have been more */
	uint8_t role;             /* enum ptt_role */
	const struct ptt_hist *latency_a,
		*latency_b; /* of a latency's figure: whole distributions; borrowed, or NULL */
};
/* Two reports of statistics that tracked. Findings first: causes, then by what has changed at least, then consequences;
 * behind them what may be chance, the least probable first, and what nobody can judge. What is the same is left out.
 * *ret is mem_alloc'd, the caller mem_free's it. Returns how many, or -TALLY_ENOMEM. */
/* Reports that were not recorded alike are compared by the sizes of packets alone, sparse ones neither by rates nor by
 * averages over time. */
bool ptt_reports_are_alike(const struct ptt_report *a, const struct ptt_report *b); /* format, direction and types */
int ptt_compare(struct ptt_change **ret, const struct ptt_report *a, const struct ptt_report *b);

#endif
