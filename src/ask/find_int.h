/*
 * find_int.h: a catalogue of all that tally knows by name.
 *
 *	find.c         which entries are wanted, and how they look
 *	find_cpu.c     probes and events of the CPU
 *	find_hv.c      what hypervisors and PCIe devices have, machines, loads, views
 *	find_here.c    whether the platform of --on has it
 */
#ifndef TALLY_ASK_FIND_INT_H
#define TALLY_ASK_FIND_INT_H

#include "answer/page.h"
#include "ask/ask_int.h"

/* strings are copied; NULL is "" */
struct found {
	const char *name;
	const char *of;   /* whose it is: "hardware", "PAPI", "vfalls SPARC", "batoka" */
	const char *code; /* "0:0x0": perf's type and config; a select code; a number */
	const char *here; /* "yes", or why not: "no PMU", "--on batoka" */
	const char *use;  /* how it is written where it is used */
	const char *also; /* other names, masks, keys */
	const char *text;
};
struct find {
	struct tally_platform *p;
	const char *pattern; /* NULL: all */
	bool all_kinds;      /* a search: what stands there under two names is left out once */
	bool verbose;
	uint32_t kind; /* that is walked */
	/* not a list but names: each is handed on and nothing is tried; NULL: a list */
	void (*each)(void *arg, const char *name);
	void *arg;
	const char *uses; /* not the name but how it is written, of those of that owner; NULL: the name */
	const char *last; /* that was handed on */
	/* entries that are wanted */
	struct arena words;
	struct find_entry {
		struct found f;
		uint32_t kind;
	} * entry;
	uint32_t n, cap;
	/* names of all entries, for what is misspelt */
	const char **name;
	uint32_t nnames, capnames;
};
void find_add(struct find *f, const struct found *e);
/* Another name, which is no entry but what somebody may have meant. */
void find_near(struct find *f, const char *name);

/* Walks: each calls find_add() for what there is. */
int find_probes(struct find *f);
int find_events(struct find *f);
int find_registers(struct find *f);
int find_requests(struct find *f);
int find_tunables(struct find *f);
int find_machines(struct find *f);
int find_loads(struct find *f);
int find_views(struct find *f);
/* ---- what the platform of --on has of a family (find_here.c) ------------------------------------------------- */
struct here {
	struct tally_platform *p;
	const char *word;            /* of all of it: "--on batoka", "no right"; NULL: each thing is tried */
	struct sun4v_client *client; /* vfalls, mmustat */
};
/* Opened once for a walk. -TALLY_ENOMEM, or why a platform with a path is not reached; the words are the platform's. */
int here_vfalls(struct find *f, struct here *ret);
int here_mmustat(struct find *f, struct here *ret);
int here_gpci(struct find *f, struct here *ret);
int here_ptt(struct find *f, struct here *ret);
int here_model(struct find *f, const char *model, struct here *ret); /* the family that this model is of */
/* Words for column HERE. */
const char *here_register(const struct here *h, uint32_t number);
const char *here_vf_event(const struct here *h, enum vf_eventset set);
const char *here_request(const struct here *h, const struct gpci_request *r);
const char *here_view(const struct here *h, uint32_t view);
const char *here_tunable(const struct here *h, enum ptt_tune t);

/* Names alone, for completion: what get, stat -e and record -e take on the platform, which keys it takes. */
int find_selectors(struct find *f);
int find_countable(struct find *f);
int find_keys(struct find *f);
/* Of each PTT device what an event of it may hold: "hisi_ptt0_2/filter=0000:00:10.0". */
int find_terms(struct find *f);
int find_providers(struct find *f);

/* The kinds by number: NULL past the last. */
struct find_kind {
	const char *name, *one, *text;
	int (*walk)(struct find *f);
};
const struct find_kind *find_kind(uint32_t i);
const char *list_kind(uint32_t i); /* those that a platform is asked for (list.c): NULL past the last */
#define FIND_ALL UINT32_MAX
/* What matches, of one kind or of all (FIND_ALL), into p->out. -TALLY_EINVAL: nothing does. */
int find_list(struct tally_platform *p, uint32_t kind, const char *pattern, bool verbose);

#endif
