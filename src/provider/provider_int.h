/*
 * provider_int.h: what the files of this room share.
 */
#ifndef TALLY_PROVIDER_INT_H
#define TALLY_PROVIDER_INT_H

#include "provider/provider.h"

/* ---- the providers ------------------------------------------------------------- */
#define PROVIDER(name) extern const struct provider prov_##name;
#include "provider/provider.def"
#undef PROVIDER

/* "no probe "tikc"; did you mean tick?": -TALLY_ENOPROBE; 0 and no words when none of the names is near. what: "probe". */
int prov_misspelt(const char *what, const char *word, struct text_names names, struct err *why);

/* ---- what providers of hypervisors' counters share (sample.c) ------------------- */
#define SAMPLE_USUAL "1s" /* interval of the probes of a listing */
#define SAMPLE_WORD 64u   /* longest word before the interval, with its NUL */

/* "entitled-1s": what stands before the last dash, and the interval behind it. False: no such shape. */
bool sample_cut_interval(const char *name, char word[static SAMPLE_WORD], const char **interval);
/* Adds or finds the probe, with nothing but its interval. NULL: no memory, in words. */
struct probe *sample_make_probe(struct probes *t, const struct provider *prov, const char *name, uint64_t ns,
				struct err *why);
/* What name_probe answers: 1 when it was made and taken. */
int sample_added(const struct probe *p, int (*add)(void *arg, uint32_t id), void *arg);
/* For a listing: makes WORD-1s; what can't be had here is left out. -TALLY_ENOMEM. */
int sample_offer(struct probes *t, const struct provider *prov, const char *word, struct err *e);
/* The platform has no such hypervisor, or none at all: -TALLY_ENOPROBE, with a model that has. */
int sample_no_platform(const struct probes *t, const struct provider *prov, const char *name, struct err *why);
/* The same, of a pattern. */
int sample_why_none(const struct provider *prov, bool is_there, struct err *why);
#define SAMPLE_STABILITIES                                          \
	.provider = { STAB_EVOLVING, STAB_EVOLVING, DEP_PLATFORM }, \
	.module = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN },      \
	.function = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN },    \
	.names = { STAB_EVOLVING, STAB_EVOLVING, DEP_PLATFORM },    \
	.args = { STAB_EVOLVING, STAB_EVOLVING, DEP_PLATFORM }

/* "10ms", or a rate: nanoseconds between firings. -TALLY_EINVAL names what is wrong. */
int prov_interval(const char *text, uint64_t *ns, struct err *why);

/* ---- what cpc has found out about the machine, once per table of probes -------- */
struct cpc_machine {
	bool known;
	struct k_pmu *core; /* the core PMUs */
	uint32_t ncore;
};
struct cpc_machine *probes_machine(const struct probes *t);
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
