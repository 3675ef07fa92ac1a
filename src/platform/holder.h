/*
 * holder.h: leases of the hardware counters (attach/lease.h), with words for people: who holds them, and what to do.
 */
#ifndef TALLY_PLATFORM_HOLDER_H
#define TALLY_PLATFORM_HOLDER_H

#include "attach/lease.h"

/* Takes a lease. A refusal (-TALLY_EBUSY) names the process that holds the counters. */
int holder_take(struct lease **ret, enum lease_kind kind, struct err *e);
/* The same with another prefix of the names (tests); NULL: the one that all use. */
int holder_take_at(struct lease **ret, const char *where, enum lease_kind kind, struct err *e);
/* Who holds leases now, as lease_list(). */
uint32_t holder_list(struct lease_holder *v, uint32_t cap);
/* "a D session (process 123, tally trace -n cpc:::cycles-all-1000000)". */
void holder_text(struct buf *to, const struct lease_holder *h);

#endif
