/*
 * flame: stacks of aggregations, merged into call trees: what folded stacks, flame graphs and pprof profiles are
 * written from, so that these agree in every sum.
 *
 * An aggregation is a tree. A row of it is a path from the root: the keys that are no stacks, in their order, then the
 * frames of user stacks, then those of kernel stacks, each outermost first: who, what his code did, what the kernel did
 * for it. Rows of the same path are one: their values are added. A frame is its function's name without the offset; a
 * frame without a function is its text (module and offset, or an address).
 *
 * Only what adds up has a tree: count(), sum() and histograms (how many values there were). avg(), min(), max() and
 * stddev() of a caller are not the sum of its callees', so they are refused, and who shows them shows a table. A sum()
 * may be negative. Such a path has no width, so forms that draw or fold leave it out, and its tree says how many paths
 * that are; pprof keeps it. A value of 0 adds nothing.
 *
 * Memory: 40 bytes for each node, and each name once. Out of memory: `failed`, and rows are missing.
 */
#ifndef TALLY_ANSWER_FLAME_H
#define TALLY_ANSWER_FLAME_H

#include "answer/answer.h"

enum an_frame { AN_FRAME_KEY, AN_FRAME_USER, AN_FRAME_KERNEL };

struct an_flame_name {
	const char *text;
	const char *file; /* the path of its module; NULL: it is not known */
	uint8_t frame;    /* enum an_frame: a name in the kernel and the same one of a process are two */
	uint32_t rank;    /* place in the order of names, from an_flame_sort() on */
};
struct an_node {
	uint32_t name, parent, child, next; /* 0: there is none: node 0 is nobody's */
	int64_t self;                       /* of rows that end here; sums stay within 64 bits */
	uint64_t epoch;                     /* the earliest of those rows */
};
struct an_flame_tree {
	const char *label;    /* "@reads", or "count()" of the aggregation that has no name */
	const char *function; /* "count" */
	uint32_t root;        /* its node: the name is the label's */
	uint32_t stacks;      /* paths with a value */
	uint64_t negative;    /* paths that an_flame_leave_out_negative() left out */
	bool has_stacks;      /* a key is a stack */
};
struct an_flame {
	struct arena arena;
	struct map index; /* frame and text -> number of the name + 1 */
	struct an_flame_name *name;
	uint32_t nnames, capnames;
	struct an_node *node;
	uint32_t nnodes, capnodes;
	uint32_t *slot, nslots;     /* hash of parent and name -> node */
	struct an_flame_seen *seen; /* texts of the aggregation that is added, by their place in memory */
	struct an_flame_tree *tree;
	uint32_t ntrees, captrees;
	bool failed;
};

/* Whether the values of an aggregation add up. */
bool an_flame_takes(const struct an_agg *a);
/* Whether one of its keys is a stack. */
bool an_flame_has_stacks(const struct an_agg *a);
/* An aggregation that an_flame_takes(); one whose label is there already is added to it. */
void an_flame_add(struct an_flame *f, const struct an_agg *a);
/* Takes off what `past` had of the same paths: what was counted since, which of a sum() may be negative. A path of a
 * later epoch, or a count that is less than it was, was cleared, and began anew: all of it stays. */
void an_flame_subtract(struct an_flame *f, const struct an_flame *past);
/* Makes paths of a negative sum 0. Returns how many those are. */
uint64_t an_flame_leave_out_negative(struct an_flame *f);
/* Links children by name: what is written is in the same order in each run. Nodes that have no value, and none below
 * them, are not linked. After all of the above. */
void an_flame_sort(struct an_flame *f);
/* What its values are, by the last word of its name as names have units ("@wait_ns"): "ns", "us", "ms", "bytes"; "" of
 * counts and where the name does not say it. */
const char *an_flame_unit(const struct an_flame_tree *t);
/* Walks a sorted tree in preorder: the node behind `at` (the root first), 0: there is none. *depth follows, from 0 of
 * the root. */
uint32_t an_flame_next(const struct an_flame *f, const struct an_flame_tree *t, uint32_t at, uint32_t *depth);
/* Sums from the leaves to the root: total[node], of nnodes. */
void an_flame_totals(const struct an_flame *f, int64_t *total);
void an_flame_free(struct an_flame *f);

/* "@reads"; of an aggregation without a name "count()". */
void an_flame_label(struct buf *to, const struct an_agg *a);

#endif
