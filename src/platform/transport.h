/*
 * transport.h: transports to hypervisors that this process runs itself, and to answers that were saved.
 *
 *	transport.c        a model, its service and one guest of it
 *	transport_file.c   a saved reply, or a dump of MMU statistics
 */
#ifndef TALLY_PLATFORM_TRANSPORT_H
#define TALLY_PLATFORM_TRANSPORT_H

#include "hv/transport.h"
#include "machine/niagara.h"
#include "machine/power.h"

#define TRANSPORT_LOAD "mixed" /* what runs unless told otherwise */
#define TRANSPORT_LEVEL_AS_CONFIGURED 255u
struct transport_opts {
	const char *machine; /* "niagara", "maramba", "batoka", "power" */
	uint64_t seed;       /* 0: 1 */
	const char *load;    /* a row of the machine's loads; NULL: TRANSPORT_LOAD */
	/* sun4v */
	uint32_t sockets, strands; /* 0: the machine's most; as the load says */
	bool old_api;              /* the hypervisor has version 1.0 of the Victoria Falls group */
	bool opensparc;
	bool rights_given;
	struct sun4v_rights sun4v; /* not given: all */
	/* POWER */
	uint8_t level;           /* firmware; TRANSPORT_LEVEL_AS_CONFIGURED */
	struct papr_rights papr; /* not given: as configured; the named loads give the asker all */
	bool size_first;         /* its guests give the size in r4, the address in r5; a transport's order is its own */
	bool block_page;         /* of a block the first 4096 bytes are used; else all of it */
	bool no_run_counts;
	const char *config; /* text of a machine file, or NULL */
	size_t config_bytes;
};
/* A transport to a new machine with one guest, on all strands of it (POWER: partition 1). Time passes in advance() only.
 * -TALLY_EINVAL with words; -TALLY_ENOMEM. */
int transport_open(struct hv_transport *ret, const struct transport_opts *o, struct err *e);
void transport_close(struct hv_transport *l); /* an empty one is fine */
/* The loads of a machine: name, and what it is. NULL past the last. */
const char *transport_load(const char *machine, uint32_t i, const char **text);

/* A file: bytes, or their hexadecimal digits. Then exactly one of these is set. */
struct transport_file {
	struct hv_transport reply; /* op set: answers with the reply, to its request alone */
	uint8_t version;           /* of the reply's layout */
	uint32_t request;
	bool is_mmustat;
	uint8_t mmustat[MMUSTAT_BYTES];
};
/* -TALLY_EIO: it can't be read; -TALLY_ECORRUPT: it is neither. */
int transport_file_open(struct transport_file *ret, const char *path, struct err *e);
int transport_file_parse(struct transport_file *ret, const char *name, const uint8_t *p, size_t n, struct err *e);
/* The whole of a file, mem_free()d by the caller. -TALLY_EIO; -TALLY_EINVAL: more than `most`. */
int transport_read_file(const char *path, size_t most, uint8_t **ret, size_t *n, struct err *e);

#endif
