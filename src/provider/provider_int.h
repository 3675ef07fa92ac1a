/*
 * provider_int.h: what the files of this room share.
 */
#ifndef TALLY_PROVIDER_INT_H
#define TALLY_PROVIDER_INT_H

#include "provider/provider.h"

/* ---- the providers: rows of the table in probes.c ---------------------------- */
extern const struct provider prov_dtrace, prov_profile, prov_cpc, prov_ptt, prov_gpci, prov_vfalls, prov_mmustat;
/* Why a probe of records can't be had; its name goes in. */
#define PTT_NO_RECORDS "%s fires for records, and there are none: give a trace with --on FILE"

/* "10ms", or a rate: nanoseconds between firings. -TALLY_EINVAL names what is wrong. */
int prov_interval(const char *text, uint64_t *ns, struct err *why);

/* ---- what cpc has found out about the machine, once per table of probes -------- */
struct cpc_machine {
	bool known;
	struct k_pmu *core; /* the core PMUs */
	uint32_t ncore;
};
struct cpc_machine *probes_machine(struct probes *t);
/* The probe of that name, if it was made. */
const struct probe *probes_find(const struct probes *t, const struct provider *p, const char *name);

/* ---- names of cpc probes (cpc_name.c) -------------------------------------------- */
#define CPC_ATTRS 8
#define CPC_NAME 128 /* longest probe name, as DTRACE_NAMELEN */

enum cpc_mode { CPC_USER, CPC_KERNEL, CPC_ALL };
struct cpc_attr {
	char name[32];
	uint64_t value;
};
struct cpc_spec {
	char event[CPC_NAME];
	char written[CPC_NAME]; /* how the event was spelt, for messages; "": as `event` */
	uint8_t mode;           /* enum cpc_mode */
	uint64_t count;         /* events per firing; 0: freq */
	uint64_t freq;          /* firings per second; 0: count */
	uint8_t precise;        /* precise_N */
	bool has_precise;
	struct cpc_attr attr[CPC_ATTRS]; /* a bare mask is the attribute umask */
	uint32_t nattrs;
};
/* EVENT-MODE[-MASK|-attr_value...]-COUNT taken apart; knows no machine and no minimum.
 * 0, or -TALLY_EINVAL with the reason; *ret is written on success only. */
#define CPC_DEFAULT_MIN 5000 /* fewer events a firing are refused, unless dcpc_min_overflow says so */
uint64_t cpc_usual_count(const char *event, uint64_t least);
int cpc_parse(const char *name, struct cpc_spec *ret, struct err *why);

/* ---- the event behind a name (cpc_event.c) ----------------------------------------- */
/* Finds what spec means on this machine: the perf events (in the arena of t; one per core PMU that
 * has it) and where the meaning comes from.  Opens nothing.  -TALLY_EINVAL, -TALLY_ENOTSUP with the
 * reason. */
struct cpc_found {
	struct k_event *ev;
	uint32_t n;
	const char *source;
};
int cpc_event(struct probes *t, const struct cpc_spec *spec, struct cpc_found *ret, struct err *why);
/* The reason for an event that is known but not to be had here. */
int cpc_no_pmu(struct err *why);
/* Names of all events this machine may have, one per event (no aliases). Array from mem_alloc. */
int cpc_event_names(struct probes *t, const char ***ret, uint32_t *n);

/* ---- dcpc.conf (cpc_conf.c) ----------------------------------------------------------- */
/* Text of a driver.conf(5) file: sets *min if it has dcpc-min-overflow. -TALLY_EINVAL names the
 * line. */
int cpc_conf_parse(const char *text, size_t n, uint64_t *min, struct err *why);
/* The file at path; none is fine. */
int cpc_conf_read(const char *path, uint64_t *min, struct err *why);

#endif
