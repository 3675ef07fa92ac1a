/*
 * emit_int.h: what the forms of answers share.
 *
 *	emit.c         which there are; rows
 *	emit_text.c    for people
 *	emit_json.c    an object a line
 *	emit_csv.c     separated values
 *	emit_folded.c  folded stacks, of traces; what the forms of call trees share
 *	emit_html.c    a page for a browser
 *	emit_pprof.c   a profile of pprof, of traces
 */
#ifndef TALLY_ANSWER_EMIT_INT_H
#define TALLY_ANSWER_EMIT_INT_H

#include "answer/emit.h"
#include "answer/page_int.h"

extern const struct an_ops an_text_ops, an_json_ops, an_csv_ops, an_folded_ops, an_html_ops, an_pprof_ops;
/* Firings as text, in the forms that have a document of aggregations beside it. */
void an_text_fire(struct an_emit *e, const struct an_firing *f);
void an_text_trace(struct an_emit *e, const struct an_value *v);
void an_text_stack(struct an_emit *e, const struct an_value *v);
void an_text_print(struct an_emit *e, const struct fmt *f, const struct an_value *v, uint32_t n);
void an_text_typed(struct an_emit *e, const struct shape *s, const uint64_t *pointer, const void *bytes, uint32_t n);
void an_text_fired(struct an_emit *e, const struct an_firing *f);
int an_printa_later(struct an_emit *e, const struct an_printa *p, struct err *err); /* the document has them */
void an_rest_nothing(struct an_emit *e);
/* The slots that these forms have alike. */
#define AN_TEXT_BESIDE                                                                                      \
	.fire = an_text_fire, .trace = an_text_trace, .stack = an_text_stack, .print = an_text_print,       \
	.typed = an_text_typed, .printa = an_printa_later, .fired = an_text_fired, .rest = an_rest_nothing, \
	.again = true
/* An aggregation into e->flame, or words why not; and after the last one. */
void an_flame_agg(struct an_emit *e, const struct an_agg *a);
void an_flame_end(struct an_emit *e);
/* Words go to who says them to people. */
void an_say_note(struct an_emit *e, const char *s, size_t n);
void an_say_event(struct an_emit *e, const struct an_event *v, const char *words, size_t n);
/* Whether this form has the row. */
bool an_rows_has(const struct an_emit *e, const struct an_cell *row);

#endif
