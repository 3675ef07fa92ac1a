/*
 * session: the conductor.  It brings sources, providers, the code generator,
 * the kernel and the answers together: it implements include/tally/tally.h,
 * keeps aggregations, reads records, and knows the order of a run:
 * BEGIN, enable, run, disable, END.
 */
#ifndef TALLY_SESSION_SESSION_H
#define TALLY_SESSION_SESSION_H

#include <stdbool.h>

#include <tally/tally.h>

struct an_agg;

/* As tally_trace_walk(), but whole aggregations, as what shows them takes them: with the function and the file of each
 * frame. `number` is that of tally_trace_aggregations(); what each gets lives until it returns. */
int session_walk_aggregations(struct tally_trace *t, int (*each)(void *arg, uint32_t number, const struct an_agg *a),
			      void *arg);
/* As tally_trace_walk(), of those aggregations that are wanted: the others are not read. epoch: an_row.epoch. */
int session_walk_rows(struct tally_trace *t, bool (*wants)(void *arg, uint32_t number),
		      int (*row)(void *arg, const struct tally_row *r, uint64_t epoch), void *arg);
/* Of a compiled program: negative, with words, when it has destructive actions that no option allows. A run begins with
 * it; who has to know before that asks before. */
int session_check_rights(struct tally_trace *t);
/* From now on drops are told in one line a kind for all CPUs, the first at once, and then so seldom. */
void session_tell_drops_seldom(struct tally_trace *t, uint64_t every_ns);

#endif
