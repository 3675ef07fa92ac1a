/*
 * single.c: PMUs that take one enabling at a time.
 *
 * How many counters a CPU has is the kernel's knowledge: an enabling that finds none free fails when it is attached
 * (k_attach, pinned events). Who may ask at all is a matter of leases (attach/lease.h). What is decided here is the one
 * rule that neither knows (dtrace_cpc.txt, "Probe Availability"): a PMU that can't tell which of its counters
 * overflowed takes one enabling at a time. `one` says so: by the PMU's row of facts/event_pmu.def, or on demand.
 */
#include "provider/provider_int.h"

int single_fits(const struct single *l, uint32_t n, struct err *why)
{
	if (!l->one || !n || l->held + n <= 1)
		return 0;
	return err_set(why, TALLY_EBUSY,
		       "cpc: this CPU can't tell which counter overflowed, so one cpc probe can be "
		       "enabled at a time%s",
		       l->held ? ", and another consumer has one" : "");
}

int single_take(struct single *l, uint32_t n, struct err *why)
{
	int rc = single_fits(l, n, why);

	if (rc >= 0)
		l->held += n;
	return rc;
}

void single_release(struct single *l, uint32_t n)
{
	l->held = l->held > n ? l->held - n : 0;
}
