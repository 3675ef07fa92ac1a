/* compare_int.h: what the parts of a comparison share: compare.c which figures, compare_chance.c how sure they are,
 * compare_share.c what requesters have in common. */
#ifndef TALLY_PTT_COMPARE_INT_H
#define TALLY_PTT_COMPARE_INT_H

#include "ptt/stats.h"

/* A figure of one trace. */
struct sample {
	double value;
	double error;    /* its standard error */
	double df;       /* degrees of freedom of that; 0: nothing is known of it */
	double grain;    /* how far off it may be in any case */
	double events;   /* a count: how many; 0: it is no count */
	double exposure; /* of a count: what it is a share of */
};
/* num over den, both in n blocks; `per` times. */
struct sample compare_ratio(const double *num, const double *den, uint32_t n, double per);
/* By how much the logarithm grows from a to b, with its standard error; df 0: nobody knows. */
struct growth {
	double log, error, df, grain, chance;
};
struct growth compare_growth(const struct sample *a, const struct sample *b);
/* What a t-distributed figure exceeds, in either direction, with that chance. */
double compare_t(double df, double chance);
/* The chance that it exceeds t, in either direction. df 0: 1. */
double compare_t_chance(double t, double df);
/* How well two series go together: about normal, with deviation 1, when they don't. */
double compare_together(const double *x, const double *y, uint32_t n);

/* A requester of both traces. */
struct compare_pair {
	const struct ptt_requester_row *a, *b;
	double usual;               /* its mean latency over both */
	bool measure, changed;      /* it has enough latencies to be a measure for others; but it changed on its own */
	bool own;                   /* it goes along with the others, and there is what is its own: */
	struct sample own_a, own_b; /* its mean latency, had the others waited as long in both */
};
/* Sets what is each pair's own; the rest of it is the caller's. */
void compare_own(struct compare_pair *v, uint32_t n);
/* Whether the others of a requester's device feel that it carries more, or less, in b. They wait longer when the
 * device, or the requester, carries more, and what they waited in b isn't the contrary; or it waits along with them,
 * and their waits have changed accordingly. */
bool compare_share(const struct ptt_report *ra, const struct ptt_report *rb, const struct ptt_requester_row *a,
		   const struct ptt_requester_row *b, bool more, bool along);

#endif
