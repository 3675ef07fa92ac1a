/*
 * history_int.h: what the aggregations of the service were over time, for the page.
 *
 * A history takes a step when somebody wants one. A step is a text: JSON that says what has changed since the step
 * before. The newest state is kept as values, the past as those texts, so a reader gets the state and then the steps
 * backwards, and takes off what each added. Nothing is interpreted twice, and each byte of memory is a byte that some
 * reader gets.
 *
 * The past ends where its time or its memory ends. Of an aggregation only so many keys have values of their own; the
 * others are one, whose key is null, and are counted.
 *
 *	{"t":MILLISECONDS,
 *	 "programs":[[name,state,reason,file],...],   all of them, in a step in which something of that changed
 *	 "fired":[n,...],"lost":[[program,kind,n],...],   since the start, in the order of "programs"
 *	 "aggs":[{"id":..,"program":..,"name":..,"function":..,"kind":..,"keys":[..],"help":..,"lows":[..]},...],   new ones
 *	 "gone":[agg,...],
 *	 "names":[[agg,[kind,text],...],...],   new names of stacks, which are numbered as they come; kind as enum an_frame
 *	 "new":[[agg,series,key...],...],       of stacks: the numbers of its names, from the outermost
 *	 "dead":[series,...],
 *	 "d":[series,difference,...],"b":[series,bucket,difference,...],
 *	 "folded":[[agg,keys without a value of their own],...]}
 */
#ifndef TALLY_SERVE_HISTORY_INT_H
#define TALLY_SERVE_HISTORY_INT_H

#include "answer/answer.h"
#include "serve/serve_int.h"

struct history_opts {
	uint64_t span_ns;  /* how far back it reaches */
	size_t bytes;      /* of all steps */
	uint32_t keys;     /* of an aggregation */
	size_t text_bytes; /* of keys and names of all aggregations */
};
#define HISTORY_STEPS 600u /* most steps of a span; none is shorter than a second */
#define HISTORY_BYTES (32u << 20)
#define HISTORY_KEYS 10000u
#define HISTORY_TEXT_BYTES (32u << 20)

struct history;
int history_open(struct history **ret, const struct history_opts *o);
void history_close(struct history *h);
uint64_t history_step_ns(const struct history *h);

/* A step: begin; for each program: program, the definitions if it is new, drops, aggregations; end. -TALLY_ENOMEM:
 * there is none. */
void history_begin(struct history *h, uint64_t now_ns);
struct history_facts {
	const char *name, *file, *state, *reason;
	uint64_t generation; /* another one: its aggregations are others */
};
/* 1: define() its aggregations; 0: they are known. */
int history_program(struct history *h, const struct history_facts *f);
int history_define(struct history *h, const struct tally_aggregation *a);
void history_drop(struct history *h, const char *kind, uint64_t count); /* "firings", too */
int history_take(struct history *h, uint32_t number, const struct an_agg *a);
int history_end(struct history *h);

/* The state as a step that adds all there is to nothing, with "version", "step", "span" and "reach" (milliseconds). */
int history_put_state(struct history *h, struct buf *to);
/* Steps have numbers, from 1 on. NULL: it is forgotten, or did not come yet. */
const struct buf *history_step(const struct history *h, uint64_t number);
uint64_t history_newest(const struct history *h); /* 0: there was none */
size_t history_bytes(const struct history *h);    /* of the steps */

#endif
