/*
 * lease.h: who holds the hardware counters of this machine (dtrace_cpc, "Co-existence with existing tools").
 *
 * Three kinds of asker. D probes (TRACE) and counting of whole CPUs (SYSTEM) exclude each other, first come, first
 * served; D sessions share what fits. Counting of processes (PROCESS) yields to both: its counters are gone from the
 * moment that one of them begins until the last has ended, and it is told so.
 *
 * A lease is a listening socket in the abstract namespace of UNIX sockets, so that it dies with its holder, however that
 * dies, and needs no file and no daemon; the holder is who the kernel says it is (SO_PEERCRED). A connection between a
 * PROCESS and a TRACE or SYSTEM stands exactly as long as the first is shut out by the second.
 *
 * Anybody may bind any name and call anybody. So a lease counts when it is root's, of one's own user, or of a process that
 * may count whole CPUs, as far as the asker can see that: who may not could keep others from counters that it can't have
 * itself. Where it does not count the kernel alone decides.
 *
 * Limits: one network namespace, which is what the abstract names belong to; LEASE_SLOTS askers of a kind at a time.
 */
#ifndef TALLY_ATTACH_LEASE_H
#define TALLY_ATTACH_LEASE_H

#include "base/base.h"

enum lease_kind { LEASE_TRACE, LEASE_SYSTEM, LEASE_PROCESS, LEASE_KINDS };
#define LEASE_SLOTS 128u

struct lease_holder {
	int32_t pid;                          /* in the caller's namespace; 0: not visible from it */
	uint32_t uid;
	uint8_t kind;                         /* enum lease_kind */
};

struct lease_at {
	const char *where;                    /* the prefix of the names; NULL: the one that all of tally uses (tests have theirs) */
	bool (*may_count)(int pid);           /* whether that process of another user may count whole CPUs; NULL: none may */
};

struct lease;                                 /* opaque; freed by lease_free() */

/* Takes a lease; `at` is copied, what it points to is not.
 * -TALLY_EBUSY: TRACE against SYSTEM or SYSTEM against either, and *other is who holds it; or all slots are taken
 * (other->pid is 0). -TALLY_EIO: no sockets. PROCESS is never refused for a holder's sake, see lease_shut(). */
int lease_take(struct lease **ret, const struct lease_at *at, enum lease_kind kind, struct lease_holder *other, struct err *e);
/* Gives it back. NULL is fine. */
void lease_free(struct lease *l);

/* Readable when lease_shut() has something to do: for poll(). */
int lease_fd(const struct lease *l);
/* PROCESS: whether the counters belong to another now; *by (NULL is fine) is one such holder. Looks at what has happened
 * since the last call; never blocks. For TRACE and SYSTEM always false, but to be called now and then all the same: it
 * takes the calls of others, whose queue is bounded. */
bool lease_shut(struct lease *l, struct lease_holder *by);

/* Who holds leases now, TRACE and SYSTEM first; at most `cap`. Returns how many there are. */
uint32_t lease_list(const struct lease_at *at, struct lease_holder *v, uint32_t cap);

/* "a D session", "counting of all CPUs", "counting of a process". */
const char *lease_kind_name(enum lease_kind kind);

#endif
