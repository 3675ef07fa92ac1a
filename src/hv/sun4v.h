/*
 * sun4v.h: the hypervisor of Niagara and Victoria Falls, as far as counters go.
 *
 * FAST_TRAP 0x102, 0x103 (mmustat.txt), 0x106, 0x107 (vf_perf_api.txt) and
 * CORE_TRAP api_set_version, api_get_version, cons_putchar, mach_exit; which of them
 * a guest has follows from what it negotiated.  PCR and PIC (ASR 0x10, 0x11) are
 * not hypercalls: sun4v_asr_read() and _write() are the instructions.
 *
 * Thread rule: each vCPU belongs to one thread at a time; different vCPUs of
 * different or the same guest run at once.  Reading and writing registers and
 * updating MMU statistics takes no lock; versions of a guest are atomics.
 */
#ifndef TALLY_HV_SUN4V_H
#define TALLY_HV_SUN4V_H

#include "hv/hv.h"

enum hv_trap { HV_FAST_TRAP = 0x80, HV_CORE_TRAP = 0xff };
/* in %o0; sun4v core API */
enum hv_status {
	HV_EOK = 0,
	HV_ENOCPU = 1,
	HV_ENORADDR = 2,
	HV_EINVAL = 6,
	HV_EBADTRAP = 7,
	HV_EBADALIGN = 8,
	HV_EWOULDBLOCK = 9,
	HV_ENOACCESS = 10,
	HV_ENOTSUPPORTED = 13,
};
enum sun4v_function {
	SUN4V_MMUSTAT_CONF = 0x102,
	SUN4V_MMUSTAT_INFO = 0x103,
	SUN4V_GET_PERFREG = 0x106,
	SUN4V_SET_PERFREG = 0x107,
	SUN4V_API_SET_VERSION = 0,
	SUN4V_CONS_PUTCHAR = 1,
	SUN4V_MACH_EXIT = 2,
	SUN4V_API_GET_VERSION = 3,
};
enum { SUN4V_GROUP_CORE = 1, SUN4V_GROUP_NIAGARA = 0x200, SUN4V_GROUP_VFALLS = 0x205 };

/* ---- the 90 registers (facts/vf_reg.def) ------------------------------------------------------ */
#define VF_REGS 90u
enum vf_class { VF_SPARC_PCR, VF_L2_CR, VF_MCU_PCR, VF_MCU_PIC, VF_ZAM_PCR, VF_ZAM_PIC0, VF_ZAM_PIC1 };
enum vf_unit { VF_UNIT_NONE, VF_UNIT_LPU_A, VF_UNIT_LPU_B, VF_UNIT_LPU_C, VF_UNIT_LPU_D, VF_UNIT_GPD, VF_UNIT_ASU };
struct vf_reg {
	const char *name;       /* "NODE0_MCU0_PCR"; 0 and 1: "SPARC_PCR", "L2_CR" */
	const char *group;      /* the table's column: "-", "all", "0", "LPU0", "GPD" ... */
	uint8_t number, cls;    /* enum vf_class */
	uint8_t node;           /* or Zambezi; of the caller for 0 and 1 */
	uint8_t unit;           /* MCU 0 or 1; of a Zambezi: enum vf_unit */
	uint64_t mask;          /* readable and writable bits */
	uint64_t local, global; /* addresses, 0: none */
};
extern const struct vf_reg vf_regs[VF_REGS];

/* ---- events (facts/vf_event.def): what a select field can be ------------------------------------- */
enum vf_eventset { VF_EVENTS_SPARC, VF_EVENTS_MCU, VF_EVENTS_LPU, VF_EVENTS_GPD, VF_EVENTS_ASU };
struct vf_event {
	const char *name, *text;
	uint16_t code;
	uint8_t set, emask;
};                                              /* emask: of SPARC */
const struct vf_event *vf_event_at(uint32_t i); /* NULL past the last */
const struct vf_event *vf_event_find(enum vf_eventset set, const char *name);
const struct vf_event *vf_event_of_code(enum vf_eventset set, uint64_t code); /* NULL: no row has it */

/* ---- machines ------------------------------------------------------------------------------------- */
/* rows: niagara, maramba1, maramba2, batoka1 .. batoka4 */
struct sun4v_kind {
	const char *name;
	bool mmustat;  /* Niagara: 0x102, 0x103; the others have 0x106, 0x107 */
	uint8_t nodes; /* with memory controllers: registers 2 + 4n .. */
	uint8_t zambezis;
	uint16_t strands_per_node;
};
/* "batoka", sockets 0 for the machine's most. NULL: no such machine, or not so many sockets. */
const struct sun4v_kind *sun4v_kind(const char *machine, uint32_t sockets);

/* What a machine gives; any vCPU's thread may call, so these take no lock shared between strands. */
struct sun4v_machine_ops {
	uint64_t (*reg_read)(void *arg, uint32_t vcpu, const struct vf_reg *r);
	void (*reg_write)(void *arg, uint32_t vcpu, const struct vf_reg *r, uint64_t value); /* masked already */
	bool (*busy)(void *arg, const struct vf_reg *r); /* that Zambezi's one CSR path is taken */
	uint64_t (*pic_read)(void *arg, uint32_t vcpu);  /* ASR 0x11 */
	void (*pic_write)(void *arg, uint32_t vcpu, uint64_t value);
	uint64_t (*tick)(void *arg, uint32_t vcpu);
};

enum sun4v_profile { SUN4V_PROFILE_SPEC, SUN4V_PROFILE_OPENSPARC };
struct sun4v_rights {        /* of a guest; the LDoms words "global", "strand", "htstrand" map here */
	bool perf;           /* 0x106, 0x107 at all */
	bool strand, global; /* register 0; registers 1 to 89 */
	bool ht;             /* may set HT in register 0 */
};
/* "perf-counters=global,htstrand" or "perfctraccess=1,perfctrhtaccess=0"; -TALLY_EINVAL names the word. */
int sun4v_rights_parse(struct sun4v_rights *ret, const char *text, struct err *e);

struct sun4v;
struct sun4v_guest;
struct sun4v_vcpu;
struct sun4v_opts {
	const struct sun4v_kind *kind;
	uint8_t profile; /* enum sun4v_profile */
	bool old_api;    /* an older hypervisor: its group 0x205 has no 1.1 */
	const struct sun4v_machine_ops *ops;
	void *arg;
	uint32_t guests, vcpus; /* most of them; 0: 16, and all strands */
};
int sun4v_open(struct sun4v **ret, const struct sun4v_opts *o); /* -TALLY_ENOMEM, -TALLY_EINVAL */
void sun4v_close(struct sun4v *s);                              /* no vCPU may be in a call */
/* -TALLY_EBUSY: too many, or a second guest with `global` (only one may hold it). mem is copied; console and exit may
 * be NULL. */
struct sun4v_guest_opts {
	struct sun4v_rights rights;
	struct hv_mem mem;
	void (*putchar)(void *arg, uint8_t c);
	void (*exited)(void *arg, uint64_t status);
	void *arg;
};
int sun4v_guest_open(struct sun4v_guest **ret, struct sun4v *s, const struct sun4v_guest_opts *o);
void sun4v_guest_close(struct sun4v_guest *g);
/* Strand `id` of the machine (its node: id / strands_per_node) for this guest. -TALLY_EINVAL: no such strand;
 * -TALLY_EBUSY: another guest's. */
int sun4v_vcpu_open(struct sun4v_vcpu **ret, struct sun4v_guest *g, uint32_t id);
void sun4v_vcpu_close(struct sun4v_vcpu *v);
void sun4v_vcpu_reset(struct sun4v_vcpu *v); /* drops the MMU statistics buffer */

/* The trap instruction: o[0..5] are %o0..%o5. False: no trap of ours (o[0] is EBADTRAP then). On an error only o[0]
 * changes. */
bool sun4v_call(struct sun4v_vcpu *v, unsigned trap, uint64_t o[6]);
/* rd and wr of an ancillary state register by privileged code: ASR_PCR and ASR_PIC. False: no such register. A write
 * never sets HT. */
enum { ASR_PCR = 0x10, ASR_PIC = 0x11 };
bool sun4v_asr_read(struct sun4v_vcpu *v, uint32_t asr, uint64_t *value);
bool sun4v_asr_write(struct sun4v_vcpu *v, uint32_t asr, uint64_t value);

/* ---- MMU statistics: the hypervisor's side of a TLB miss ------------------------------------------- */
enum mmustat_size { MMUSTAT_8K, MMUSTAT_64K, MMUSTAT_4M, MMUSTAT_256M, MMUSTAT_SIZES };
#define MMUSTAT_BYTES 0x200u
/* Offset of the hits (ticks: + 8) in the buffer; facts/mmustat.def has the rows. */
uint32_t mmustat_slot(bool data, bool context, enum mmustat_size size);
/* Those rows. */
#define MMUSTAT_SLOTS (2u * 2u * MMUSTAT_SIZES)
extern const struct mmustat_row {
	uint8_t side, context;
	const char *size;
	uint32_t at;
} mmustat_slots[MMUSTAT_SLOTS];
/* A miss of this vCPU was answered from a TSB in `ticks`: adds to its buffer, if there is one. Its own thread only. */
void sun4v_tsb_hit(struct sun4v_vcpu *v, bool data, bool context, enum mmustat_size size, uint64_t ticks);

#endif
