/*
 * lease.c: who holds the counters.
 *
 * A CPU has few counters and many askers; first come, first served (dtrace_cpc.txt,
 * "Probe Availability").  How many there are is the kernel's knowledge: an
 * enabling that finds none free fails when it is attached (k_attach, pinned
 * events).  What is decided here is the one rule that the kernel does not know:
 * a PMU that can not tell which of its counters overflowed takes one enabling
 * at a time.  `one` says so: by the PMU's row of facts/event_pmu.def, or on demand.
 */
#include "provider/provider_int.h"

int lease_fits(const struct lease *l, uint32_t n, struct err *why)
{
	if (!l->one || !n || l->held + n <= 1)
		return 0;
	return err_set(why, TALLY_EBUSY,
	               "cpc: this CPU can't tell which counter overflowed, so one cpc probe can be "
	               "enabled at a time%s",
	               l->held ? ", and another consumer has one" : "");
}

int lease_take(struct lease *l, uint32_t n, struct err *why)
{
	int rc = lease_fits(l, n, why);

	if (rc >= 0)
		l->held += n;
	return rc;
}

void lease_release(struct lease *l, uint32_t n)
{
	l->held = l->held > n ? l->held - n : 0;
}
