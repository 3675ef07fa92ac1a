/*
 * local_hv.h: hypervisor services over the local protocol (protocol.md 5).
 *
 * A conversation is one guest: it says which (HV_GUEST), lends its memory (HV_MEMORY) and then
 * calls.  The memory is a memfd that both sides map, so what a service writes between calls (MMU
 * statistics) needs no message.  Its seal against shrinking is what lets the server touch it: no byte of a
 * mapping can go away.
 */
#ifndef TALLY_ATTACH_LOCAL_HV_H
#define TALLY_ATTACH_LOCAL_HV_H

#include "attach/local.h"
#include "hv/transport.h"
#include "machine/niagara.h"
#include "machine/power.h"

/* ---- operations (protocol.md 5) ------------------------------------------------------------------ */
#define LOCAL_HV_FIRST 0x0010
/* clang-format off */
#define LOCAL_HV_OPS(X)                                                                                                \
	X(HV_CALL, 0x0010, LOCAL_CALL, struct local_hv_call, struct local_hv_regs, 0)                                  \
	X(HV_MEMORY, 0x0011, LOCAL_CALL, struct local_hv_memory, struct local_nothing, 0)                              \
	X(HV_ASR_READ, 0x0012, LOCAL_CALL, struct local_hv_asr, struct local_hv_value, 0)                              \
	X(HV_ASR_WRITE, 0x0013, LOCAL_CALL, struct local_hv_assign, struct local_nothing, 0)                           \
	X(HV_GUEST, 0x0014, LOCAL_CALL, struct local_hv_ask, struct local_hv_machine, 0)                               \
	X(HV_TIME, 0x0015, LOCAL_LOOK, struct local_nothing, struct local_hv_value, 0)
/* clang-format on */
enum local_hv_op {
#define X(name, number, ...) LOCAL_##name = (number),
	LOCAL_HV_OPS(X)
#undef X
};

struct local_hv_regs {
	uint64_t r[6]; /* %o0-%o5; POWER: r3-r8 */
};
struct local_hv_call {
	uint32_t vcpu, trap; /* trap: 0x80, 0xff; POWER: 1, the level of `sc` */
	uint64_t r[6];
};
static_assert(sizeof(struct local_hv_call) == 56 && offsetof(struct local_hv_call, r) == 8, "protocol.md 5.3");
struct local_hv_memory {
	uint64_t base, bytes;
};
#define LOCAL_HV_PAGE 4096u /* base and bytes are multiples of it */
#define LOCAL_HV_MEMORY_MOST (UINT64_C(1) << 30)
struct local_hv_asr {
	uint32_t vcpu, asr;
};
struct local_hv_assign {
	uint32_t vcpu, asr;
	uint64_t value;
};
static_assert(sizeof(struct local_hv_assign) == 16, "protocol.md 5.4");
struct local_hv_value {
	uint64_t value;
};
#define LOCAL_HV_NAME 16u
struct local_hv_ask {
	char guest[LOCAL_HV_NAME]; /* sun4v: NUL-terminated; "": one without a name */
	uint32_t partition, zero;  /* POWER; 0: 1 */
};
static_assert(sizeof(struct local_hv_ask) == 24 && offsetof(struct local_hv_ask, partition) == 16, "protocol.md 5.1");
/* Rights of a guest, as this guest has them. */
#define LOCAL_HV_PERF 1u
#define LOCAL_HV_STRAND 2u
#define LOCAL_HV_GLOBAL 4u
#define LOCAL_HV_HT 8u
#define LOCAL_HV_ALL 1u /* POWER */
#define LOCAL_HV_EXPANDED 2u
#define LOCAL_HV_LAB 4u
struct local_hv_machine {
	char machine[16];
	uint32_t sockets, strands, strands_per_node;
	uint32_t rights;
	uint32_t partition, level; /* POWER; level: of the firmware */
	uint64_t memory_most;
	uint64_t ns; /* the machine's time */
};
static_assert(sizeof(struct local_hv_machine) == 56 && offsetof(struct local_hv_machine, memory_most) == 40,
	      "protocol.md 5.1");

/* ---- the server ------------------------------------------------------------------------------------- */
/* Who may have what, of a sun4v machine: text, a line a guest (local_hv_guests.c):
 *	guest NAME RIGHTS [strands=A-B]       RIGHTS as sun4v_rights_parse()
 *	others RIGHTS                         of guests without a name; without the line: all
 * Of guests without a name the first has `global` while it is there; the others do without. */
struct local_hv_guest {
	char name[LOCAL_HV_NAME];
	struct sun4v_rights rights;
	bool pinned, taken;
	uint32_t first, last; /* its strands, nobody else's, when pinned; else those that are free */
};
struct local_hv_guests {
	struct local_hv_guest *guest;
	uint32_t n, cap;
	struct sun4v_rights others;
};
/* strands: of the machine. -TALLY_EINVAL: the words name the line; -TALLY_ENOMEM. */
int local_hv_guests_parse(struct local_hv_guests *ret, const char *text, size_t n, uint32_t strands, struct err *e);
void local_hv_guests_free(struct local_hv_guests *g);

/* What a server gets as its platform: a machine and its service. The sun4v service takes LOCAL_CLIENTS guests. */
struct local_hv {
	const struct sun4v_kind *kind;
	struct niagara *niagara;
	struct sun4v *sun4v;
	struct local_hv_guests *guests;
	struct power *power;
	struct papr *papr;
	uint64_t (*now)(void *arg); /* ns of the machine */
	void *arg;
};
/* "niagara", "maramba", "batoka", "power"; NULL: another. */
const struct local_service *local_hv_service(const char *machine);

/* ---- the asking end (local_hv_transport.c) ------------------------------------------------------------------ */
struct local_transport_opts {
	const char *guest;  /* NULL: one without a name */
	uint32_t partition; /* 0: 1 */
	size_t bytes;       /* of guest memory; 0: what all strands' statistics need */
	struct local_wait wait;
};
/* Fills *ret, whose op->close ends it. Errors as local_connect(); -TALLY_ENOTSUP also: a platform without a
 * hypervisor. opts NULL: all defaults. */
int local_transport_open(struct hv_transport *ret, const char *path, const struct local_transport_opts *o,
			 struct err *e);

#endif
