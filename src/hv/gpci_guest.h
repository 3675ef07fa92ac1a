/*
 * gpci_guest.h: the asker's side of 0xF080: all records of a request, whatever
 * the size of a reply, and the invariants that they obey.
 *
 * Records are kept by id, never by row: between two readings partitions come and
 * go.  A reply that does not hold all is continued behind its last record; both ways in which a firmware says so are
 * taken, and an answer that does not get on ends the reading.
 */
#ifndef TALLY_HV_GPCI_GUEST_H
#define TALLY_HV_GPCI_GUEST_H

#include "hv/transport.h"

/* the records of one reading */
struct gpci_table {
	const struct gpci_request *r;
	uint32_t n, cap;
	struct gpci_values *v; /* by id, ascending */
	uint64_t ns;           /* when */
};
/* index -1: the caller's own; else from there on. 0; -TALLY_EPERM (H_Authority), -TALLY_ENOTSUP (H_Not_Available,
 * H_Function: not on this firmware or machine), -TALLY_EINVAL (no such record), -TALLY_EIO; words name the request. */
int gpci_read(struct gpci_table *ret, struct hv_transport *transport, const struct gpci_request *r, int32_t index,
	      struct err *e);
/* All records, or where only the asker's own may be read, that one (*own). */
int gpci_all(struct gpci_table *ret, struct hv_transport *l, const struct gpci_request *r, bool *own, struct err *e);
void gpci_table_free(struct gpci_table *t);
const struct gpci_values *gpci_table_find(const struct gpci_table *t, uint64_t id, uint64_t secondary);
/* Sets MMCRH. */
int gpci_set_mmcrh(struct hv_transport *transport, uint64_t value, struct err *e);

/* ---- invariants: what all counters of a machine obey, as far as an asker can see --------------------------- */
struct gpci_snapshot; /* tables of one moment: as many requests as rights and firmware allow */
int gpci_snapshot_take(struct gpci_snapshot **ret, struct hv_transport *transport, struct err *e);
void gpci_snapshot_free(struct gpci_snapshot *s);
/* Whether anything moved between both: else invariants about change say nothing. */
bool gpci_snapshot_moved(const struct gpci_snapshot *before, const struct gpci_snapshot *now);
/* X(name, what holds) */
/* clang-format off */
#define GPCI_INVARIANTS(X) \
	X(processors_ran_what_was_consumed, "what processors ran is what partitions consumed") \
	X(processors_run_within_time, \
	  "a processor runs no longer than time passes, and not at all when it is in no use") \
	X(capped_within_entitled, "capped cycles stay within the entitled ones, and those within the processors") \
	X(uncapped_behind_entitlement, "uncapped cycles come behind a whole entitlement") \
	X(partitions_within_their_processors, "a partition consumes no more than its virtual processors can") \
	X(dedicated_and_shared, "dedicated partitions have no uncapped cycles, shared ones donate none") \
	X(donated_is_consumed, "what is donated others consume, on the donor's processors") \
	X(idle_within_consumed, "idle cycles are a part of the consumed ones") \
	X(runs_are_those_of_cores, "run cycles and instructions of partitions are those of the cores") \
	X(cables_have_two_ends, "links are idle for no longer than time passes, and both ends of a cable are alike") \
	X(hpmc_go_together, "HPMC since MMCRH was set are part of the current ones, and go together") \
	X(counters_grow_and_agree, "counters only grow, and requests that say the same agree") \
	X(small_replies_are_large_ones, "small replies hold the same records as a large one") \
	X(own_view_is_the_privileged_one, "a partition sees of itself what a privileged one sees of it") \
	X(controllers_serve_the_cables, "what cables carried memory controllers moved, in frames that are reads and writes")
/* clang-format on */
#define INVARIANT(name, text) GPCI_INVARIANT_##name,
enum gpci_invariant_name { GPCI_INVARIANTS(INVARIANT) GPCI_INVARIANT_COUNT };
#undef INVARIANT
struct gpci_invariant {
	uint8_t number; /* from 1: of the enum, and one more */
	const char *name, *text;
};
const struct gpci_invariant *gpci_invariant_at(uint32_t i);  /* NULL past the last */
enum gpci_verdict { GPCI_HOLDS, GPCI_BROKEN, GPCI_UNKNOWN }; /* unknown: the records that it needs are not to be had */
/* before: an earlier snapshot, or NULL. Words of a broken or unknown invariant in e. */
enum gpci_verdict gpci_invariant_check(const struct gpci_invariant *l, const struct gpci_snapshot *before,
				       const struct gpci_snapshot *now, struct err *e);

#endif
