/*
 * model.h: a model of a hypervisor's machine with its service: opened by text, advanced, called.
 *
 *	model.c        the machine, its service, its time
 *	model_key.c    the keys of the text
 *
 * Its owner gives it guests: a transport of this process, a server, machine code, an emulator. Guests are closed
 * before it.
 *
 * Thread rule: time passes in one thread; the service's own rule says what guests may do meanwhile.
 */
#ifndef TALLY_MACHINE_MODEL_H
#define TALLY_MACHINE_MODEL_H

#include "machine/niagara.h"
#include "machine/power.h"

#define MODEL_LOAD "mixed" /* what runs unless told otherwise */
#define MODEL_LEVEL_AS_CONFIGURED 255u
struct model_opts {
	const char *machine; /* "niagara", "maramba", "batoka", "power" */
	uint64_t seed;       /* 0: 1 */
	const char *load;    /* a row of the machine's loads; NULL: MODEL_LOAD */
	bool rights_given;
	/* sun4v */
	uint32_t sockets, strands; /* 0: the machine's most; as the load says */
	uint32_t guests;           /* at once; 0: 1 */
	bool idle;                 /* no load: whoever opened it makes things happen */
	bool old_api;              /* the hypervisor has version 1.0 of the Victoria Falls group */
	bool profile_given, opensparc;
	struct sun4v_rights sun4v; /* of the guest; not given: all */
	/* POWER */
	uint8_t level;           /* firmware; MODEL_LEVEL_AS_CONFIGURED */
	uint16_t asker;          /* whose rights these are; 0: partition 1 */
	struct papr_rights papr; /* not given: as configured; the named loads give the asker all */
	bool size_first;         /* its guests give the size in r4, the address in r5; a transport's order is its own */
	bool block_page;         /* of a block the first 4096 bytes are used; else all of it */
	bool no_run_counts;
	char config_path[256]; /* a machine file, which whoever opens the model reads; "": none */
	const char *config;    /* its text, or NULL */
	size_t config_bytes;
};

/* ---- words ---------------------------------------------------------------------------------- */
/* Which words a machine takes; 0: there is no such machine. */
enum model_family { MODEL_NIAGARA = 2, MODEL_VFALLS = 4, MODEL_POWER = 8 };
uint8_t model_family(const char *machine);
const char *model_key(uint8_t family, uint32_t i); /* "seed", "load", ...; NULL past the last */
/* What seed= and load= take, of any model: a number, 1 or more; one of the names, name(arg, 0) on up to NULL. *ret is
 * set on success. -TALLY_EINVAL. */
int model_seed_parse(uint64_t *ret, const char *value, struct err *e);
int model_load_parse(const char **ret, const char *value, const char *(*name)(const void *arg, uint32_t i),
		     const void *arg, struct err *e);
/* One of them. -TALLY_EINVAL: the words name it, what is wrong and what is expected. */
int model_set(struct model_opts *o, const char *key, const char *value, struct err *e);
/* The loads of a machine: name, and what it is. NULL past the last. */
const char *model_load(const char *machine, uint32_t i, const char **text);
/* The rights of a guest of sun4v. */
struct sun4v_rights model_rights(const struct model_opts *o);

/* ---- the model ------------------------------------------------------------------------------ */
struct model {
	/* set by model_open(), then read-only */
	const char *name;              /* "batoka"; borrowed */
	const struct sun4v_kind *kind; /* NULL: POWER */
	struct niagara *niagara;
	struct sun4v *sun4v;
	struct power *power;
	struct papr *papr;
	uint32_t strands; /* sun4v */
	/* since it was opened */
	uint64_t ns;
};
/* -TALLY_EINVAL with words; -TALLY_ENOMEM. */
int model_open(struct model **ret, const struct model_opts *o, struct err *e);
void model_close(struct model *m);                  /* NULL is fine */
void model_advance(struct model *m, uint64_t ns);   /* so much more passes */
uint64_t model_now(void *m);                        /* ns; of POWER never further than its last whole window */
void model_run_to(struct model *m, uint64_t ticks); /* instead of advancing: cycles, ticks of the timebase */
bool model_has_partition(const struct model *m, uint32_t id);

#endif
