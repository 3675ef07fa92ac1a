/*
 * provider: a file per provider: which probes it has, how a name is
 * understood, how it is armed.  A provider is one struct with named slots;
 * providers are rows of a table, so a new interface adds a file and a row.
 *
 * Probes are made when they are first named (cpc, profile), and keep their id
 * for the life of the table.  Ids 1, 2, 3 are BEGIN, END, ERROR.
 */
#ifndef TALLY_PROVIDER_H
#define TALLY_PROVIDER_H

#include "base/base.h"
#include "bpf/bpf.h"
#include "dlang/dlang.h"
#include "hv/sun4v_guest.h"
#include "kernel/kernel.h"

enum prov_arm { ARM_BEGIN, ARM_END, ARM_ERROR, ARM_TICK, ARM_EVENT, ARM_RECORD };
/* Which records of a trace fire an ARM_RECORD probe, in the order in which one record fires them. */
enum prov_record {
	RECORD_ANY,
	RECORD_P,
	RECORD_NP,
	RECORD_CPL,
	RECORD_TRANSACTION,
	RECORD_KINDS,
	/* not of a trace: what a hypervisor counts, read every tick_ns */
	SAMPLE_GPCI = RECORD_KINDS,
	SAMPLE_VFALLS,
	SAMPLE_VF_EVENT,
	SAMPLE_MMUSTAT
};

struct probe {
	uint32_t id;
	const struct provider *prov;
	const char *mod, *func, *name;
	uint8_t arm;      /* enum prov_arm */
	uint64_t tick_ns; /* ARM_TICK; of a hypervisor's counters: how often they are read */
	struct k_event *event;
	uint32_t nevents;                   /* ARM_EVENT: usually one; on hybrid CPUs one per PMU */
	uint8_t record;                     /* ARM_RECORD: enum prov_record */
	const struct gpci_request *request; /* SAMPLE_GPCI: as this firmware lays it out */
	const char *vf_event;               /* SAMPLE_VF_EVENT: its name */
	const struct d_args *args;          /* SAMPLE_*: args[0] */
	const char *source;                 /* where its meaning comes from, for -lv: "perf software event cpu-clock" */
};

enum stab {
	STAB_INTERNAL,
	STAB_PRIVATE,
	STAB_OBSOLETE,
	STAB_EXTERNAL,
	STAB_UNSTABLE,
	STAB_EVOLVING,
	STAB_STABLE,
	STAB_STANDARD
};
enum dep { DEP_UNKNOWN, DEP_CPU, DEP_PLATFORM, DEP_GROUP, DEP_ISA, DEP_COMMON };
struct stability {
	uint8_t name, data, dep;
}; /* enum stab, stab, dep */

struct probes; /* the table of all probes made so far */
struct prov_opts {
	uint64_t cpc_min; /* least COUNT; 0 = from /etc/tally/dcpc.conf, else 5000 */
	bool cpc_exclusive;
	const char *sysfs;              /* fake /sys for tests: what it has counts, nothing is opened */
	const char *conf;               /* configuration file; NULL = /etc/tally/dcpc.conf */
	bool records;                   /* there is a source of records: --on FILE */
	struct hv_transport *transport; /* to a hypervisor: --on power, batoka ...; NULL: none */
	struct sun4v_client *sun4v;     /* its guest, when it is sun4v's; else NULL */
	bool one_enabling;              /* tests: act as a PMU that can't tell which counter overflowed */
};
struct provider {
	const char *name;
	const char *help; /* one line */
	struct stability provider, module, function, names, args;
	/* A literal name: makes (or finds) its probes. Returns how many; 0 when the name is not the provider's;
	 * negative with the reason in words ("count 100 is below the minimum of 5000"). */
	int (*name_probe)(struct probes *t, const char *name, int (*add)(void *arg, uint32_t id), void *arg,
			  struct err *why);
	/* Makes what a listing should show (cpc: one probe per event). */
	int (*offer)(struct probes *t, struct err *e);
	/* What args[index] of a probe is; NULL: nothing. An empty slot: no probe has any. */
	const struct d_args *(*args_of)(const struct probe *p, uint32_t index);
};

/* As d_env.args wants it. */
const struct d_args *probe_args(const struct probe *p, uint32_t index);
int probes_open(struct probes **ret, const struct prov_opts *o);
void probes_close(struct probes *t);
/* What a script's own pragmas say comes when the table is open already, and before names are looked up. */
void probes_set(struct probes *t, uint64_t cpc_min, bool cpc_exclusive);
const struct probe *probes_get(const struct probes *t, uint32_t id); /* NULL past the last */
uint32_t probes_count(const struct probes *t);                       /* ids are 1 .. count */
/* A description, globs and all, as the compiler's callback wants it (d_env.probes). */
int probes_match(struct probes *t, const struct d_probedesc *desc, int (*add)(void *arg, uint32_t id), void *arg,
		 struct err *why);
/* Whether a provider is there on this platform: 0, or negative with the reason. */
int probes_provider(const struct probes *t, const char *name, struct err *why);
int probes_offer(struct probes *t, struct err *e); /* all providers */
/* For providers: adds a probe or finds the one of that name. */
struct probe *probes_add(struct probes *t, const struct provider *p, const char *name);
const struct prov_opts *probes_opts(const struct probes *t);
struct arena *probes_arena(struct probes *t);
/* Whether these enabled probes may be enabled together (decision: counters that can't tell which overflowed).
 * 0, or -TALLY_EBUSY with the reason. */
int probes_compatible(const struct probes *t, const uint32_t *ids, uint32_t n, struct err *why);
/* A CPU event that is to be counted, as counting tools write it (cpc_count.c). */
struct prov_count {
	const char *name; /* as it was written */
	const struct k_event *ev;
	uint32_t n;     /* one on each core PMU that has it */
	bool all_modes; /* no mode was asked for */
	bool in_kernel; /* it happens in the kernel alone */
	bool clock;     /* nanoseconds, of all modes whatever was asked */
	const char *unit;
	double scale; /* what one of it is: "Joules", 2.3e-10; NULL: an event */
	const char *source;
};
/* n bytes at text. What is in *ret lives as long as t. -TALLY_EINVAL: there is no such event, with the nearest;
 * -TALLY_ENOTSUP: it is known, but not to be had here. Nothing is opened. */
int prov_count(struct probes *t, const char *text, size_t n, struct prov_count *ret, struct err *why);
const char *stab_text(unsigned stab); /* "Evolving" */
const char *dep_text(unsigned dep);   /* "Common" */

#endif
