/*
 * event.h: the names of the CPU events that every Linux may have.
 *
 * Three families of the kernel (hardware, software, cache) under perf's own
 * names, and the generic PAPI names of PSARC 2008/334.  perf's names are put in
 * lower case with '_' for '-', since a cpc probe name is split at '-'.
 *
 * A preset (PAPI_*) either stands for a kernel event, or, where the kernel has
 * no such generic event (levels 2 and 3 of the caches), for one event per CPU
 * model: rows of event_preset.def.
 *
 * The numbers are the kernel's ABI (include/uapi/linux/perf_event.h); this room
 * sees no Linux header, so kernel/ asserts them.
 */
#ifndef TALLY_FACTS_EVENT_H
#define TALLY_FACTS_EVENT_H

#include <stdbool.h>
#include <stdint.h>

enum event_kind { EVENT_HW, EVENT_SW, EVENT_CACHE, EVENT_PRESET };

enum event_type { EVENT_TYPE_HW = 0, EVENT_TYPE_SW = 1, EVENT_TYPE_CACHE = 3, EVENT_TYPE_RAW = 4 };

/* Modes in which an event can not fire, whatever happens. */
#define EVENT_NEVER_USER 1u
#define EVENT_NEVER_KERNEL 2u
#define EVENT_NEVER (EVENT_NEVER_USER | EVENT_NEVER_KERNEL)
/* A clock: it samples in the mode asked for, but the kernel's count is of the time in all modes. */
#define EVENT_CLOCK 4u
/* Each has the address of the data that it is about. */
#define EVENT_DATA 8u

enum event_cache { CACHE_L1D, CACHE_L1I, CACHE_LL, CACHE_DTLB, CACHE_ITLB, CACHE_BPU, CACHE_NODE };
enum event_cache_op { CACHE_READ, CACHE_WRITE, CACHE_PREFETCH };
enum event_cache_result { CACHE_ACCESS, CACHE_MISS };

struct event {
	const char *name; /* as in a probe: cpu_clock, PAPI_l2_dcm */
	const char *perf; /* as perf spells it: cpu-clock; else NULL */
	const char *of;   /* what an alias or preset stands for, or NULL */
	uint8_t kind;     /* enum event_kind */
	bool alias;
	uint8_t flags; /* EVENT_NEVER_*, EVENT_CLOCK, EVENT_DATA */
	uint32_t type; /* perf_event_attr's; 0 in aliases and presets */
	uint64_t config;
	const char *text; /* what it counts, or why it never fires */
};

const struct event *event_at(uint32_t i);         /* NULL past the last */
const struct event *event_find(const char *name); /* exact; NULL when there is none */
bool event_is_clock(uint32_t type, uint64_t config);
/* The kernel's event behind an alias or preset, or ev itself; NULL when the CPU's model decides. */
const struct event *event_real(const struct event *ev);

/* One CPU model's event for a preset without a kernel event. */
struct event_preset {
	const char *name;  /* PAPI_l2_dcm */
	const char *pmu;   /* libpfm4's name of the PMU; "": events/ in sysfs */
	const char *event; /* libpfm4's or sysfs' name of the event */
};
const struct event_preset *event_preset_at(uint32_t i); /* NULL past the last */

/* Whether a PMU, by its name, tells which of its counters overflowed: rows of event_pmu.def. */
struct event_pmu {
	const char *prefix;
	bool tells;
	const char *how;
};
const struct event_pmu *event_pmu_of(const char *name); /* never NULL: the last row fits all */

#endif
