/*
 * bucket.h: the numbering of histogram buckets, said once for the code
 * generator, the answers and the tests.
 *
 * One rule holds for all three kinds.  Buckets are numbered from 0 in the order
 * of the values they hold; bucket 0 has no lower bound and the last one no
 * upper.  Each other bucket starts at its *least* value.  So, with
 * least(1) < least(2) < ... as a list of edges:
 *
 *	bucket(v) = how many edges are <= v
 *
 * quantize: 127 buckets. 63 holds 0; 63+k holds [2^(k-1), 2^k) for k = 1..63
 * (label 2^(k-1)); 63-k holds (-2^k, -2^(k-1)] (label -2^(k-1)); bucket 0 also
 * holds INT64_MIN.
 *
 * lquantize(base, limit, step): levels = (limit - base) / step. 0 is below
 * base, 1+i is [base+i*step, base+(i+1)*step) for i < levels, levels+1 is at or
 * above base+levels*step (the limit, when step divides it).
 *
 * llquantize(factor, low, high, steps): m positive edges, ascending:
 *	factor^low, then for each magnitude low..high, with top = factor^(magnitude+1),
 *	the values k * top/steps for k = steps/factor+1 .. steps (integer division);
 *	at magnitude 0 with steps > factor instead 2, 3 .. factor, since there are
 *	no more integers.
 * The last of them is factor^(high+1).  2m+1 buckets: m is around zero,
 * m+1+j starts at positive edge j and holds values up to the next; m-1-j is its
 * mirror image: it ends at minus edge j, inclusive.
 */
#ifndef TALLY_FACTS_BUCKET_H
#define TALLY_FACTS_BUCKET_H

#include <stdint.h>

struct err;

#define QUANTIZE_BUCKETS 127
#define QUANTIZE_ZERO 63

struct lquantize {
	int32_t base, limit;
	uint32_t step; /* 1 or more */
};
struct llquantize {
	uint16_t factor, low, high, steps; /* as llquantize_check() accepts them */
};

/* Whether constants of a D program may be put into the struct.  0, or -TALLY_EINVAL with dtrace's
 * words in e and the error's tag ("D_LQUANT_STEPVAL") in *tag; tag may be NULL. */
int llquantize_check(int64_t factor, int64_t low, int64_t high, int64_t steps, const char **tag, struct err *e);

/* The functions below take what the _valid functions accept, and bucket numbers that exist.
 * _least: the smallest value of the bucket; INT64_MIN for bucket 0. */
int64_t quantize_label(uint32_t bucket);
int64_t quantize_least(uint32_t bucket);

uint32_t lquantize_levels(const struct lquantize *q);                /* (limit - base) / step; two buckets more */
int64_t lquantize_label(const struct lquantize *q, uint32_t bucket); /* its start; bucket 0: base */
int64_t lquantize_least(const struct lquantize *q, uint32_t bucket);
uint32_t lquantize_bucket(const struct lquantize *q, int64_t v);

uint32_t llquantize_buckets(const struct llquantize *q);
/* The edge nearest to zero: lower (positive), upper (negative); 0 for the middle. */
int64_t llquantize_label(const struct llquantize *q, uint32_t bucket);
int64_t llquantize_least(const struct llquantize *q, uint32_t bucket);
/* Most edges (buckets less one) of any llquantize: the code generator compares against them. */
#define LLQUANTIZE_EDGES 4096
/* All edges, ascending, as in the rule above.  Returns how many. */
uint32_t llquantize_edges(const struct llquantize *q, int64_t *edge /* LLQUANTIZE_EDGES */);

#endif
