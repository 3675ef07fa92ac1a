/* compare_int.h: what the parts of a comparison share: compare.c which figures, compare_chance.c how sure they are. */
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

#endif
