/*
 * ask_int.h: what list, get, set, stat and check share.
 *
 *	selector.c   how things are named
 *	pick.c       what a selector of a hypervisor's counters names
 *	list.c       list; list_hv.c: of vfalls, mmustat, gpci
 *	get.c        get and set; get_hv.c: of hypervisors
 *	check.c      check, and the invariants of gpci; check_sun4v.c: those of vfalls and mmustat; check_ptt.c:
 *	             of PTT traces
 *	find*.c      a catalogue of all names (find_int.h)
 *	stat*.c      stat (stat_int.h)
 *	doctor.c     what this machine can be asked
 */
#ifndef TALLY_ASK_ASK_INT_H
#define TALLY_ASK_ASK_INT_H

#include "answer/emit.h"
#include "platform/hv.h"

/* ---- selectors: PROVIDER/NAME[,key[=value]...]/ -------------------------------------------------- */
#define SEL_KEYS 12u
enum sel_provider { SEL_OTHER, SEL_VFALLS, SEL_MMUSTAT, SEL_GPCI, SEL_HV_GPCI };
struct sel {
	enum sel_provider provider;
	char text[160];   /* as written, with the last slash */
	char room[160];   /* what the pointers below point into */
	const char *name; /* behind the first slash; "" */
	struct {
		const char *key, *value;
	} key[SEL_KEYS]; /* value NULL: without '=' */
	uint32_t nkeys;
};
/* Whose a selector is, from its first word. */
enum sel_provider sel_provider(const char *s);
/* n bytes at s. -TALLY_EINVAL: the words may name a command, which ends with asked. */
int sel_parse(struct sel *ret, const char *s, size_t n, const char *asked, struct err *e);
/* The length of the first selector of a list "A,B"; a comma behind it is not part of it. */
size_t sel_length(const char *list);
/* The value of a key that may be there once: NULL. */
const char *sel_value(const struct sel *s, const char *key);
bool sel_flag(const struct sel *s, const char *key);
/* A number. 0: it is not there, *ret stays; 1. -TALLY_EINVAL. */
int sel_number(const struct sel *s, const char *key, uint64_t most, uint64_t *ret, struct err *e);
/* All keys are among these (NULL behind the last): -TALLY_EINVAL with what is near. */
int sel_keys_are(const struct sel *s, const char *const *allowed, struct err *e);

/* What a vfalls selector of stat names. */
struct vf_pick {
	struct vf_counter_ask ask;
	bool all_strands;             /* SPARC without cpu= */
	const struct vf_event *event; /* NULL: a code without a name */
};
/* What counts by this control register, as selectors name it: "zam0_lpu_a". false: it selects no events. */
bool pick_unit_name(char to[static 24], const struct vf_reg *r);
int vf_pick(struct tally_platform *p, const struct hv_transport *l, const struct sel *s, struct vf_pick *ret);
/* "immu", "dmmu", "all". */
int mm_sides(struct tally_platform *p, const struct sel *s, bool side[2]);
extern const char *const mm_size_name[];

/* What a gpci selector names. */
struct gpci_pick {
	const struct gpci_request *r; /* as this platform lays it out, if it has it */
	int64_t index;                /* -1: the asker's own; -2: all */
	int64_t secondary;            /* of a virtual processor; -2: all */
	int32_t field;                /* -1: all */
};
int gpci_pick(struct tally_platform *p, const struct hv_transport *l, const struct sel *s, struct gpci_pick *ret);
/* The layout that this platform answers with; the highest where it has none. */
const struct gpci_request *gpci_layout(const struct tally_platform *p, const struct hv_transport *l,
				       const struct gpci_request *r);
/* "processor", "partition", ...; NULL: there is one record. */
const char *gpci_key(const struct gpci_request *r);
/* The value that says "does not apply" in this field. */
bool gpci_is_none(const struct gpci_field *f, uint64_t v);

extern const char *const vf_eventset_name[]; /* by enum vf_eventset */
/* "ZAM0_LPU_A_PCR" as selectors have it. */
void vf_lower(char to[static 24], const char *name);

/* ---- verbs ------------------------------------------------------------------------------------------- */
struct list_hv {
	struct tally_platform *p;
	const char *pattern;
	bool verbose;
	uint64_t rows;
};
int hv_list_vfalls(struct list_hv *l);
int hv_list_mmustat(struct list_hv *l);
int hv_list_gpci(struct list_hv *l);
/* What keeps someone out, in a word of a column: "no right", "not here", "busy", "by index", "error". */
const char *hv_why_not(int rc);
/* Whether a request may be had of p->line: "yes", "own only", "to count", or why not, which e has in words. */
const char *hv_request_access(struct tally_platform *p, const struct gpci_request *r, struct err *e);
/* Its cpu= (1), a strand that the machine has; 0: it says none, and *cpu stays. */
int pick_strand_of(struct tally_platform *p, const struct hv_transport *l, const struct sel *s, uint64_t *cpu);
/* Into p->out. raw: as bytes. *kind: what the last header was of. */
int hv_get(struct tally_platform *p, const char *s, size_t n, bool raw, const void **kind);
int hv_set(struct tally_platform *p, const char *s, size_t n, const char *value);

/* ---- check ------------------------------------------------------------------------------------------ */
enum check_verdict { CHECK_HOLDS, CHECK_BROKEN, CHECK_UNKNOWN };
struct check_invariant {
	uint32_t number;
	const char *name;
	enum check_verdict verdict;
	const char *text, *why;
};
/* A row, and where the invariant doesn't hold a note. */
void check_row(struct tally_platform *p, struct tally_check_result *result, struct an_rows *t,
	       struct check_invariant l);
int check_sun4v(struct tally_platform *p, const struct tally_check_opts *c, struct tally_check_result *result,
		bool is_vfalls, struct an_rows *t);
int check_ptt(struct tally_platform *p, const struct tally_check_opts *c, struct tally_check_result *result,
	      struct an_rows *t);

#endif
