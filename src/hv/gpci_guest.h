/*
 * gpci_guest.h: the asker's side of 0xF080: all records of a request, whatever
 * the size of a reply, and the laws that they obey.
 *
 * Records are kept by id, never by row: between two readings partitions come and
 * go.  A reply that does not hold all is continued behind its last record; both ways in which a firmware says so are
 * taken, and an answer that does not get on ends the reading.
 */
#ifndef TALLY_HV_GPCI_GUEST_H
#define TALLY_HV_GPCI_GUEST_H

#include "hv/line.h"

struct gpci_table { /* the records of one reading */
	const struct gpci_request *r;
	uint32_t n, cap;
	struct gpci_values *v; /* by id, ascending */
	uint64_t ns;           /* when */
};
/* index -1: the caller's own; else from there on. 0; -TALLY_EPERM (H_Authority), -TALLY_ENOTSUP (H_Not_Available, H_Function: not
 * on this firmware or machine), -TALLY_EINVAL (no such record), -TALLY_EIO; words name the request. */
int gpci_read(struct gpci_table *ret, struct hv_line *line, const struct gpci_request *r, int32_t index, struct err *e);
void gpci_table_free(struct gpci_table *t);
const struct gpci_values *gpci_table_find(const struct gpci_table *t, uint64_t id, uint64_t secondary);
/* Sets MMCRH. */
int gpci_set_mmcrh(struct hv_line *line, uint64_t value, struct err *e);

/* ---- laws: what all counters of a machine obey, as far as an asker can see --------------------------- */
struct gpci_snapshot; /* tables of one moment: as many requests as rights and firmware allow */
int gpci_snapshot_take(struct gpci_snapshot **ret, struct hv_line *line, struct err *e);
void gpci_snapshot_free(struct gpci_snapshot *s);
/* Whether anything moved between both: else laws about change say nothing. */
bool gpci_snapshot_moved(const struct gpci_snapshot *before, const struct gpci_snapshot *now);
struct gpci_law {
	uint8_t number;
	const char *text;
};
const struct gpci_law *gpci_law_at(uint32_t i);              /* NULL past the last */
enum gpci_verdict { GPCI_HOLDS, GPCI_BROKEN, GPCI_UNKNOWN }; /* unknown: the records that it needs are not to be had */
/* before: an earlier snapshot, or NULL. Words of a broken or unknown law in e. */
enum gpci_verdict gpci_law_check(const struct gpci_law *l, const struct gpci_snapshot *before,
				 const struct gpci_snapshot *now, struct err *e);

#endif
