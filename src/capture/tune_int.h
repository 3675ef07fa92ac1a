/*
 * tune_int.h: what the files behind tally_tune() share.
 *
 *	tune.c        settings, measurements, the search, and putting back
 *	tune_chance.c what is chance
 *	tune_table.c  what was measured, or would be, as text, JSON and CSV
 */
#ifndef TALLY_CAPTURE_TUNE_INT_H
#define TALLY_CAPTURE_TUNE_INT_H

#include "capture/capture.h"
#include "capture/trace_int.h"

#define MEASURES_MOST 1024u
#define TUNE_LOTS 4u   /* measurements of each of two settings in a block */
#define TUNE_BLOCKS 8u /* at most, of one setting */

struct setting {
	uint32_t v[PTT_TUNES];
};

/* Whose requests a trace shows together with their answers; one trace can't have both (hisi_ptt.rst, "Direction"). */
enum view { VIEW_DEVICES, VIEW_HOST, VIEWS };

struct figures {
	uint64_t ns, payload, answered, ticks, records, lost;
};
enum verdict { NO_BETTER, AS_IT_WAS, REFERENCE, UNCERTAIN, BETTER };
struct measured {
	struct setting s;
	struct figures f;
	uint8_t view;    /* enum view */
	uint8_t verdict; /* on this setting in this view; the first measurement of both has it */
	/* what the verdict rests on: its cost, and that of the best until then; 0: it was held against nothing */
	uint64_t cost, best;
};

struct tune {
	struct tally_platform *p;
	struct tally_tune_opts o;
	struct tally_tune_result result;
	uint32_t device, ports;          /* ports: the filter that takes all root ports */
	uint8_t function[(1 << 16) / 8]; /* a bit of each requester id: a device's below these ports */
	char name[32];
	struct setting before, now, best; /* now: as far as it is known */
	struct measured done[MEASURES_MOST];
	uint32_t ndone;
	uint32_t nheld;    /* settings that were held against the best */
	uint64_t random;   /* of the lots */
	bool shows[VIEWS]; /* there was something to compare in the first measurement */
	int status;        /* of the command, the first time */
	/* of times: settled by who knows it, or once enough records were seen */
	uint8_t time; /* enum ptt_time */
	bool settled, sure;
	/* of the measurement at hand */
	enum view view;
	struct ptt_match *match;
	struct ptt_clock clock;
	struct figures f;
};

/* Less is better: time per byte, or ticks per answer. UINT64_MAX: there was nothing. */
uint64_t tune_cost(const struct tune *t, const struct figures *f);
/* Payload bytes per second, as if what was lost had been like what was not. */
uint64_t tune_rate(const struct figures *f);
bool tune_same(const struct setting *a, const struct setting *b);
enum view tune_view(const struct tune *t, enum ptt_tune tunable); /* that shows what it does for the goal */
/* Whether a value is worth trying where `from` is. */
bool tune_can_help(const struct tune *t, enum ptt_tune tunable, uint32_t from, uint32_t to);
/* The event of a trace in that view. */
void tune_event(const struct tune *t, enum view view, char *ret, size_t n);

/* tune_chance.c. The chance that a setting which does nothing wins so many comparisons, or more, in so many blocks. */
double tune_chance(uint32_t blocks, uint32_t wins);
/* What a look may take it for: for the number-th setting of a run (from 1) that is wrong once in one_in times. */
double tune_bound(uint32_t one_in, uint32_t number);
/* Who is measured when in a block: true is the setting, false what it is held against. */
void tune_draw(uint64_t *random, bool turn[static 2 * TUNE_LOTS]);

/* Into the platform's output: what was measured and set; what would be. */
void tune_table(struct tune *t);
void tune_plan(struct tune *t);

#endif
