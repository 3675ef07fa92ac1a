/*
 * emit_int.h: what the forms of answers share.
 *
 *	emit.c         which there are; rows
 *	emit_text.c    for people
 *	emit_json.c    an object a line
 *	emit_csv.c     separated values
 *	emit_folded.c  folded stacks, of traces
 *	emit_html.c    a page for a browser
 */
#ifndef TALLY_ANSWER_EMIT_INT_H
#define TALLY_ANSWER_EMIT_INT_H

#include "answer/emit.h"
#include "answer/page_int.h"

extern const struct an_ops an_text_ops, an_json_ops, an_csv_ops, an_folded_ops, an_html_ops;
/* Words go to who says them to people. */
void an_say_note(struct an_emit *e, const char *s, size_t n);
void an_say_event(struct an_emit *e, const struct an_event *v, const char *words, size_t n);
/* Whether this form has the row. */
bool an_rows_has(const struct an_emit *e, const struct an_cell *row);

#endif
