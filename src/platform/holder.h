/*
 * holder.h: leases of the hardware counters (attach/lease.h), with words for people: who holds them, and what to do.
 */
#ifndef TALLY_PLATFORM_HOLDER_H
#define TALLY_PLATFORM_HOLDER_H

#include "attach/lease.h"

/* Takes a lease. A refusal (-TALLY_EBUSY) names the process that holds the counters. */
int holder_take(struct lease **ret, enum lease_kind kind, struct err *e);
/* The same below another root (tests); NULL: the machine's. */
int holder_take_at(struct lease **ret, const char *root, enum lease_kind kind, struct err *e);
/* What to say of a lease that others do not see (lease_unkept()). */
#define HOLDER_UNKEPT "other processes cannot see that tally holds the hardware counters, and may use them too: %s"
/* Who holds leases now, as lease_list(). */
uint32_t holder_list(struct lease_holder *v, uint32_t cap);
/* "a D session (process 123, tally trace -n cpc:::cycles-all-1000000)". */
void holder_text(struct buf *to, const struct lease_holder *h);

#endif
