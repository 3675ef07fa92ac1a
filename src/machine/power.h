/*
 * power.h: a POWER central electronics complex: nodes, chips, cores, partitions,
 * a dispatcher in windows of 10 ms, links, and the counters that come of it.
 *
 * Integer arithmetic, ticks of the 512 MHz timebase, all state in one struct;
 * the same configuration, seed and calls give the same counters everywhere.
 * What is modelled is amounts of time per window, not instants in it.
 */
#ifndef TALLY_MACHINE_POWER_H
#define TALLY_MACHINE_POWER_H

#include "hv/papr.h"

#define POWER_TB_HZ 512000000u
#define POWER_WINDOW 5120000u /* ticks: 10 ms */
#define POWER_CORES_MOST 480u
#define POWER_PARTITIONS_MOST 1024u

enum power_state {
	POWER_NOT_INSTALLED = 1,
	POWER_GUARDED = 2,
	POWER_UNLICENSED = 3,
	POWER_SHARED = 4,
	POWER_BORROWED = 5,
	POWER_DEDICATED = 6
};
struct power_partition {
	uint16_t id; /* from 1 */
	char name[16];
	bool dedicated, donate, capped, reports_idle;
	struct papr_rights rights;
	uint16_t vps;         /* virtual processors; of a dedicated one: its cores */
	uint32_t entitlement; /* hundredths of a core; shared only */
	uint8_t weight;       /* 0..255 */
	uint32_t memory_lmbs; /* blocks of 256 MB, from 1 */
	uint16_t home;        /* chip of its memory and cores, as far as there is room */
	bool spread;          /* instead: the same on all chips */
	/* its work: demand per VP in thousandths of a window, with a swing over a period of windows */
	uint16_t demand, swing, period;
	uint16_t snooze; /* thousandths of what it got that the OS idles away */
	uint16_t ipc_n, ipc_d;
	uint16_t bytes_per_tick; /* memory traffic of a busy tick, when nothing holds it up */
	uint16_t writes;         /* thousandths of it that are writes */
};
struct power_opts {
	uint64_t seed;      /* 0: 1 */
	const char *load;   /* a row of power_load.def; NULL: "mixed" */
	const char *config; /* text of a machine file, or NULL; its format: doc/power-config.md */
	size_t config_bytes;
	uint8_t level;      /* firmware; 255: what the configuration says, else 6 */
	bool no_run_counts; /* a processor version that doesn't collect run counts */
	struct papr_rights rights;
	bool rights_given; /* of the asker */
	uint16_t asker;    /* a partition; 0: 1 */
};
#define POWER_LEVELS "there are the levels 0, 3, 5, 6 and 8"
/* A level of the firmware as a user writes it. False: there is none such. */
bool power_level_parse(const char *text, uint8_t *ret);
struct power_load {
	const char *name, *text, *config;
}; /* a load is a configuration with a name */
const struct power_load *power_load_at(uint32_t i);
struct power;
/* -TALLY_EINVAL: words name the line and the word of the configuration. */
int power_open(struct power **ret, const struct power_opts *o, struct err *e);
void power_close(struct power *p);              /* NULL is fine */
extern const struct papr_machine_ops power_ops; /* `arg` is the struct power */
uint8_t power_level(const struct power *p);
void power_run(struct power *p, uint64_t tb); /* time goes on to tb ticks since boot, a window at a time */
uint64_t power_now(const struct power *p);
/* While it runs, from the next window on. -TALLY_EINVAL, -TALLY_EBUSY (it does not fit; the words say what is
 * missing). */
int power_create(struct power *p, const struct power_partition *q, struct err *e);
int power_delete(struct power *p, uint16_t id, struct err *e);
/* vps, entitlement, weight, demand ... */
int power_resize(struct power *p, const struct power_partition *q, struct err *e);
/* Sorted by id; *ret is good until the next call. 0 also when memory is out. */
uint32_t power_partitions(const struct power *p, const struct power_partition **ret);
/* What no counter shows, for the invariants of whole machines (tests): time of a processor that went to nobody, and of
 * the hypervisor, and its dispatches; what deleted partitions had consumed and donated. */
struct power_hidden {
	uint64_t idle, firmware, dispatches;
};
struct power_retired {
	uint64_t capped, uncapped, donated, run_cycles, run_instructions, dispatches;
};
struct power_hidden power_hidden(const struct power *p, uint32_t core);
struct power_retired power_retired(const struct power *p);

#endif
