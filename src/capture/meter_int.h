/*
 * meter_int.h: packets, counted by who sends them for as long as they come, of one trace: meter.c.
 */
#ifndef TALLY_CAPTURE_METER_INT_H
#define TALLY_CAPTURE_METER_INT_H

#include "facts/tlp.h"
#include "ptt/pmu.h"
#include "ptt/ptt.h"

enum {
	METER_REQUESTERS = 1024, /* with rows of their own, as in a report; the rest are one row */
	METER_TYPES = TLP_ROW_reserved + 1,
	METER_BUCKETS = 64, /* of latencies: 0, 1, 2 to 3, 4 to 7 and so on */
	METER_STATUSES = 8,
};
enum meter_count {
#define METER(name, family, cause, is_loss, text) METER_##name,
#include "capture/meter.def"
#undef METER
	METER_COUNTS
};

/* Of requests of one type that were answered. */
struct meter_answers {
	uint64_t n, sum, bucket[METER_BUCKETS]; /* ticks to the last completion of those that went well */
	uint64_t failed[METER_STATUSES];        /* the others, by the status of their completion */
};
struct meter_cell {
	uint64_t packets, bytes;       /* bytes: payload, of writes the enabled ones */
	uint64_t twice;                /* packets that may be second records of others, at most; they are counted */
	struct meter_answers *answers; /* NULL: none */
};
struct meter_requester {
	uint16_t id;
	bool is_heard;                       /* a request of it was answered */
	uint64_t open;                       /* requests that wait for their completion */
	struct meter_cell type[METER_TYPES]; /* of completions: those to it */
};

struct meter {
	/* how records are read */
	struct ptt_decode_opts how; /* time is AUTO until there is a record */
	struct ptt_clock clock;
	uint8_t coverage; /* enum ptt_coverage: bits */
	bool is_sure;     /* of how times count */
	uint8_t tail[32]; /* of a record that was not whole yet */
	uint32_t ntail;
	bool is_damaged; /* the bytes before were no record */
	/* what was counted */
	struct ptt_match *match;
	struct ptt_twice *twice; /* NULL: the event has no packet twice */
	uint64_t records;
	uint64_t count[METER_COUNTS];
	struct meter_requester *row[METER_REQUESTERS + 1]; /* the last: all that had no room; NULL from `rows` on */
	uint32_t rows;
	uint16_t place[1 << 16]; /* of a requester: 1 + its row */
};
/* config: of the event, which says format and coverage. time: what Time counts from; AUTO: the records tell. Of
 * requests that are open at once so many are known. */
int meter_open(struct meter **ret, uint64_t config, enum ptt_time time, uint32_t most_outstanding);
void meter_close(struct meter *m); /* NULL is fine */
/* -TALLY_ENOMEM: what is counted is no longer all. */
int meter_take(struct meter *m, const struct ptt_aux *a);
/* Records are missing here: no latency spans it. */
void meter_gap(struct meter *m);
/* The greatest latency of a bucket, METER_BUCKETS - 1 of them: the last has none. */
const int64_t *meter_buckets(void);
uint64_t meter_bytes_held(const struct meter *m); /* of memory, all but the matching's */

#endif
