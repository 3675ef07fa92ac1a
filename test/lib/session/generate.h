/*
 * generate.h: random choices that are the same everywhere, and D programs made of them.
 *
 * A program is its number: that of a failure makes the same text again.  It uses nothing that may differ from run to
 * run or from the kernel to the vm: no time, no process, no address, no memory of a process.
 */
#ifndef TALLY_TEST_GENERATE_H
#define TALLY_TEST_GENERATE_H

#include "base/base.h"

struct gen {
	uint64_t state;
	struct buf to;
	uint32_t arms;     /* of if, that the statement in work is in */
	bool memory;       /* this clause has scratch memory: this->mem, this->bytes */
	bool speculates;   /* this clause calls speculate(), behind which nothing is aggregated */
	uint32_t features; /* enum gen_feature, by bit: which the program may use */
};

/* xorshift64*: the same programs everywhere */
static inline uint32_t pick(struct gen *g, uint32_t n)
{
	g->state ^= g->state >> 12;
	g->state ^= g->state << 25;
	g->state ^= g->state >> 27;
	return (uint32_t)((g->state * 0x2545f4914f6cdd1dull) >> 33) % n;
}

static inline const char *one_of(struct gen *g, const char *const *words, uint32_t n)
{
	return words[pick(g, n)];
}
#define ONE_OF(g, ...) one_of(g, (const char *const[]){ __VA_ARGS__ }, COUNT(((const char *const[]){ __VA_ARGS__ })))
#define PUT(g, ...) buf_printf(&(g)->to, __VA_ARGS__)

/* Each number makes another program. */
static inline void gen_begin(struct gen *g, uint64_t number)
{
	g->state = number * 0x9e3779b97f4a7c15ull + 1;
	buf_clear(&g->to);
}

/* A whole program of so many clauses, besides those that begin and end it. */
void gen_program(struct gen *g, uint64_t number, unsigned clauses);

#endif
