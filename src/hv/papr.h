/*
 * papr.h: H_GetPerformanceCounterInfo (token 0xF080) of PAPR.
 *
 * One call, many requests: each request is a row of facts/gpci.def and its record a
 * list of field rows, from which the writer, the reader, the lists and the documents
 * are made.  The block is big-endian, whatever the guest is.  Validation is in the
 * order of papr_gpci.txt; what it leaves open: doc/spec-gpci.md.
 *
 * Thread rule: a service is read-only once open, but for MMCRH, which goes to the machine; calls from
 * several vCPUs may run at once if the machine's functions allow that.
 */
#ifndef TALLY_HV_PAPR_H
#define TALLY_HV_PAPR_H

#include "hv/hv.h"

#define PAPR_GPCI 0xf080u
enum papr_rc {
	H_SUCCESS = 0,
	H_HARDWARE = -1,
	H_FUNCTION = -2,
	H_PRIVILEGE = -3,
	H_NOT_AVAILABLE = 3,
	H_PARAMETER = -4,
	H_AUTHORITY = -10,
};
#define GPCI_HEADER 32u
#define GPCI_MOST 4096u         /* bytes of a block, as every known asker has it */
#define GPCI_BUF_TOO_SMALL 0x1b /* detail_rc of a partial reply */
#define GPCI_FIELDS_MOST 24u
#define GPCI_ELEMENTS_MOST 64u /* of 0xB1's variable part, in one record */

enum gpci_kind { GPCI_U8 = 1, GPCI_U16 = 2, GPCI_U32 = 4, GPCI_U64 = 8 }; /* bytes */
struct gpci_field {
	const char *name, *unit, *text; /* "processor_time", "PURR cycles", ... */
	uint16_t offset;                /* in the record */
	uint8_t bytes;                  /* enum gpci_kind */
	uint8_t flags;                  /* GPCI_F_* */
	uint8_t since;                  /* first firmware level that has it */
	const char *linux_name;         /* the end of Linux's event name, or NULL */
};
#define GPCI_F_COUNTER 1u /* only grows */
#define GPCI_F_ID 2u      /* the record's id: what starting_index speaks of */
#define GPCI_F_NONE 4u    /* all ones: does not apply (not installed, not wired) */
#define GPCI_F_OLD_ID 8u  /* the record's id at levels that have no GPCI_F_ID field yet */
#define GPCI_F_HEX 16u    /* a register or a mask: people read it in hexadecimal */
#define GPCI_F_STATE 32u  /* a processor's state, see gpci_state_name() */
/* OWN: index -1 needs none; else `all`, or `all` and `expanded`. */
enum gpci_right { GPCI_FREE, GPCI_OWN_FREE, GPCI_OWN_EXPANDED, GPCI_ALL, GPCI_EXPANDED, GPCI_LAB };
enum gpci_index { GPCI_BY_PROCESSOR, GPCI_BY_PARTITION, GPCI_BY_CHIP, GPCI_BY_DOMAIN, GPCI_BY_VP, GPCI_BY_NOTHING };
/* Codes of requests. Two layouts of one request have one code. */
enum gpci_code {
#define GPCI_BEGIN(tag, number, ...) GPCI_REQUEST_##tag = (number),
#define GPCI_FIELD(...)
#define GPCI_END(tag)
#include "facts/gpci.def"
#undef GPCI_BEGIN
#undef GPCI_FIELD
#undef GPCI_END
};
struct gpci_request {
	uint32_t number;        /* enum gpci_code */
	const char *name;       /* short: "dispatch_purr" */
	const char *title;      /* the spec's or Linux's: "Dispatch_PURR_by_processor" */
	const char *text;       /* what it counts or tells */
	const char *linux_name; /* the start of Linux's event names, or NULL */
	uint16_t size;          /* of a record; of 0xB1 its fixed part */
	uint8_t index, right;   /* enum gpci_index, gpci_right */
	uint8_t since, until;   /* firmware levels that answer it (0..8) */
	uint8_t from, to;       /* versions that see this layout: the lower of the asker's and the firmware's */
	const struct gpci_field *field;
	uint32_t nfields;
};
/* The request at a firmware level, as an asker of `version` sees it (0x50 and 0x60 have two layouts). NULL: not at this
 * level. */
const struct gpci_request *gpci_request(uint32_t number, uint8_t level, uint8_t version);
const struct gpci_request *gpci_request_at(uint32_t i); /* all rows, layouts of one request follow each other */
/* By short name, title, Linux's name, or number as text; the layout of the highest version. NULL. */
const struct gpci_request *gpci_request_find(const char *name);
bool gpci_counts(const struct gpci_request *r); /* its records have a counter */
/* "shared"; "?": there is none such. */
const char *gpci_state_name(uint64_t state);
/* The field that starting_index speaks of at a firmware level, and its place among the rows; NULL: there is one
 * record. */
const struct gpci_field *gpci_id_field(const struct gpci_request *r, uint8_t level, uint32_t *place);

/* of one record, in the order of its field rows */
struct gpci_values {
	uint64_t v[GPCI_FIELDS_MOST];
	uint64_t id, secondary; /* where to go on: + 1 */
	uint32_t nelements;     /* 0xB1 */
	struct gpci_element {
		uint16_t primary, secondary;
		uint32_t units[4];
	} element[GPCI_ELEMENTS_MOST];
};
struct papr_caller {
	uint16_t partition;
	uint16_t vcpu;
};
struct papr_rights {
	bool all, expanded, lab;
};
/* "all+expanded", "all,lab", "none": each word adds one. -TALLY_EINVAL names the word. */
int papr_rights_parse(struct papr_rights *ret, const char *text, struct err *e);
struct papr_machine_ops {
	/* The first record with id >= from (of GPCI_BY_VP: (from, secondary)); self: the caller's own, or the one of
	 * the processor that it runs on. 1, 0: there is none; negative: H_HARDWARE. One call's records must be of one
	 * moment: begin() and end() stand around them. */
	int (*next)(void *arg, struct papr_caller who, const struct gpci_request *r, bool self, uint64_t from,
		    uint64_t secondary, struct gpci_values *v);
	void (*begin)(void *arg);
	void (*end)(void *arg);
	void (*set_mmcrh)(void *arg, uint64_t value);
	struct papr_rights (*rights)(void *arg, uint16_t partition);
	/* Whether the machine has what a request of its level is about; NULL: all of it. False: H_Not_Available. */
	bool (*has)(void *arg, const struct gpci_request *r);
};
struct papr_opts {
	uint8_t level;        /* firmware: 0, 3, 5, 6, 8 */
	bool absent;          /* the machine is older than the call: H_Function */
	bool size_first;      /* r4 is the size, r5 the address */
	bool partial_success; /* a reply that does not hold all is H_Success (level 0 always) */
	uint32_t most;        /* bytes of a block that are used; 0: all, as the text has it; GPCI_MOST: a page */
	const struct papr_machine_ops *ops;
	void *arg;
};
struct papr;
/* -TALLY_ENOMEM; -TALLY_EINVAL: no ops, no such level, or `most` below a header. */
int papr_open(struct papr **ret, const struct papr_opts *o);
void papr_close(struct papr *p);
/* `sc 1`: r[0] is r3 (token in, code out), r[1] r4, r[2] r5. Any token: unknown ones are H_Function. */
void papr_call(struct papr *p, struct papr_caller who, const struct hv_mem *mem, uint64_t r[3]);
/* For who has no registers: r[1] is the address and r[2] the size, whatever the machine's order is. */
void papr_ask(struct papr *p, struct papr_caller who, const struct hv_mem *mem, uint64_t r[3]);

/* ---- the asker's side ------------------------------------------------------------------------------ */
/* a block, understood */
struct gpci_reply {
	uint32_t request;
	int32_t starting_index;
	uint16_t secondary_index;
	uint32_t returned, element_size, detail, version_in, version_out;
	const uint8_t *record;
	size_t bytes; /* in the block */
};
/* Puts the header of a request; n >= GPCI_HEADER. */
void gpci_ask(uint8_t *block, size_t n, uint32_t request, int32_t index, uint16_t secondary, uint8_t version);
/* Checks a reply's sizes. -TALLY_ECORRUPT with words. */
int gpci_reply(struct gpci_reply *ret, const uint8_t *block, size_t n, struct err *e);
/* The i-th record's values by the rows of r (0xB1: walks). -TALLY_ECORRUPT: it is cut off, or has more elements than a
 * reply can. */
int gpci_record(const struct gpci_request *r, const struct gpci_reply *rep, uint32_t i, struct gpci_values *v,
		struct err *e);
/* Bytes of a record that has been read, with the elements of 0xB1. */
size_t gpci_record_bytes(const struct gpci_request *r, const struct gpci_values *v);

#endif
