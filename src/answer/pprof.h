/* pprof.h: call trees as a profile of pprof. */
#ifndef TALLY_ANSWER_PPROF_H
#define TALLY_ANSWER_PPROF_H

#include "answer/flame.h"

/* What is known of the run. */
struct an_pprof {
	uint64_t began_ns, lasted_ns; /* since 1970; 0: not known */
	uint64_t period;              /* between two samples; 0: there is none, or more than one */
	const char *period_type, *period_unit;
	const char *const *comment;
	uint32_t ncomments;
};
/* The trees are sorted. Out of memory: `failed` of the buffer is set. */
void an_pprof_put(struct buf *to, const struct an_flame *f, const struct an_pprof *about);

#endif
