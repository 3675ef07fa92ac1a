/*
 * filter.h: a D predicate over records, for those who go through a trace
 * themselves (`tally dump --filter EXPR`).
 *
 * EXPR is an expression as between the slashes of `ptt:::tlp /EXPR/`, in which members of args[0] may be named bare:
 * `requester == 0x100 && name == "MRd64"`. An id may be written as it is printed: `requester == 01:00.0`.  Members come
 * before D's own variables of the same name.
 */
#ifndef TALLY_CAPTURE_FILTER_H
#define TALLY_CAPTURE_FILTER_H

#include "base/base.h"
#include "facts/tlp.h"

struct ptt_filter;
/* -TALLY_ESYNTAX with words that name what is wrong in expr; -TALLY_ENOMEM; -TALLY_ENOTSUP: too large. */
int ptt_filter_open(struct ptt_filter **ret, const char *expr, struct err *e);
void ptt_filter_close(struct ptt_filter *f); /* NULL is fine */
/* 1: expr is true for the record of the device of that name; 0: it is not, or it faults (a division by zero).
 * Negative: the vm refused. */
int ptt_filter_keeps(struct ptt_filter *f, const struct tlp *t, const char *device, struct err *e);
/* How often it did; why (may be NULL) gets what the first was. */
uint64_t ptt_filter_faults(const struct ptt_filter *f, struct buf *why);

#endif
