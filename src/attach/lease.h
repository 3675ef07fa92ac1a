/*
 * lease.h: who holds the hardware counters of this machine (dtrace_cpc, "Co-existence with existing tools").
 *
 * Three kinds of asker. D probes (TRACE) and counting of whole CPUs (SYSTEM) exclude each other, first come, first
 * served; D sessions share what fits. Counting of processes (PROCESS) yields to both: its counters are gone from the
 * moment that one of them begins until the last has ended, and it is told so.
 *
 * A lease is a socket in a directory that only its user can write, so that it dies with its holder, however that dies,
 * needs no daemon, and nobody else can make one, keep one from being made or stand in the way of looking.
 *
 * A lease counts for whom it can't harm: root's for everybody, an ordinary user's for that user. Between two ordinary
 * users, and for root against an ordinary user, the kernel alone decides who counts.
 *
 * Limits: one /run and one namespace of process ids.
 */
#ifndef TALLY_ATTACH_LEASE_H
#define TALLY_ATTACH_LEASE_H

#include "base/base.h"

enum lease_kind { LEASE_TRACE, LEASE_SYSTEM, LEASE_PROCESS, LEASE_KINDS };

struct lease_holder {
	int32_t pid;
	uint32_t uid;
	uint8_t kind; /* enum lease_kind */
};

struct lease; /* opaque; freed by lease_free() */

/* Takes a lease. root: the directory in which run/ and tmp/ are; NULL: that of the machine (tests have their own).
 * -TALLY_EBUSY: TRACE against SYSTEM or SYSTEM against either, and *other is who holds it; or a process of this user
 * does not give the lock of the leases back (other->pid is 0). PROCESS is never refused for a holder's sake, see
 * lease_shut(). Where no directory can be had the lease is taken all the same, unseen by others: see lease_unkept(). */
int lease_take(struct lease **ret, const char *root, enum lease_kind kind, struct lease_holder *other, struct err *e);
/* Gives it back. NULL is fine. */
void lease_free(struct lease *l);
/* Why others do not see this lease, in words; NULL: they do. */
const char *lease_unkept(const struct lease *l);

/* Readable when lease_shut() has something to do: for poll(). -1: never. */
int lease_fd(const struct lease *l);
/* PROCESS: whether the counters belong to another now; *by (NULL is fine) is one such holder. Never blocks. For TRACE
 * and SYSTEM always false. */
bool lease_shut(struct lease *l, struct lease_holder *by);

/* Who holds leases now that count for this user, TRACE and SYSTEM first; at most `cap`. Returns how many there are. */
uint32_t lease_list(const char *root, struct lease_holder *v, uint32_t cap);

/* "a D session", "counting of whole CPUs", "counting of processes". */
const char *lease_kind_name(enum lease_kind kind);

#endif
