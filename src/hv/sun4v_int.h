/*
 * sun4v_int.h: what the files of the sun4v service share.
 *
 *	sun4v.c          machines, guests, vCPUs, the trap, versions, ASRs
 *	sun4v_mmustat.c  functions 0x102, 0x103 and the buffer
 *	sun4v_perf.c     functions 0x106, 0x107
 *	sun4v_rights.c   a guest's rights from text
 *	vf_reg.c         the tables
 */
#ifndef TALLY_HV_SUN4V_INT_H
#define TALLY_HV_SUN4V_INT_H

#include <stdatomic.h>

#include "hv/sun4v.h"

enum { WORD_MARKER, WORD_CORE, WORD_NIAGARA, WORD_VFALLS, WORD_TEST, WORDS }; /* a group's version */
#define PCR_HT (1u << 3)
#define PCR_HOLDOV (UINT64_C(3) << 62) /* write as 1: what OV0 and OV1 are, they stay */

typedef uint64_t __attribute__((may_alias)) be64; /* a big-endian word of the guest's memory */
struct sun4v {
	struct sun4v_opts o;
	uint32_t nguests;
	struct sun4v_vcpu **vcpu; /* by strand; NULL: free */
	bool global_held;
};
struct sun4v_guest {
	/* set by sun4v_guest_open(), then read-only */
	struct sun4v *s;
	struct sun4v_guest_opts o;
	uint8_t verdict[VF_REGS][2]; /* of a register's calls, by minor version; EWOULDBLOCK: its hub is asked */
	/* any vCPU: major << 32 | minor of each group; 0: not negotiated */
	_Atomic uint64_t version[WORDS];
};
struct sun4v_vcpu {
	/* set by sun4v_vcpu_open(), then read-only */
	struct sun4v_guest *g;
	uint32_t id;
	/* set by its own thread, dropped by whichever of the guest's ends it */
	_Atomic uint64_t area; /* real address of the MMU statistics buffer; 0: none */
	be64 *_Atomic bytes;   /* the same, where we reach it */
};

/* A hypercall: o[0..5] in; out: the status, and on success what `out` has. */
struct hv_out {
	uint32_t n;
	uint64_t r[2];
}; /* %o1, %o2: n of them */
static inline void hv_result(struct hv_out *out, uint64_t r)
{
	out->n = 1;
	out->r[0] = r;
}
typedef enum hv_status sun4v_fn(struct sun4v_vcpu *v, const uint64_t o[6], struct hv_out *out);
void sun4v_perf_check_rights(struct sun4v_guest *g); /* fills verdict */
void sun4v_mmustat_drop(struct sun4v_vcpu *v);       /* the buffer is written no more */
sun4v_fn sun4v_mmustat_conf, sun4v_mmustat_info, sun4v_perf_get, sun4v_perf_set, sun4v_t1_get, sun4v_t1_set;

static inline bool is_opensparc(const struct sun4v_vcpu *v)
{
	return v->g->s->o.profile == SUN4V_PROFILE_OPENSPARC;
}
/* What the guest negotiated of a group: major << 32 | minor, 0: nothing. */
static inline uint64_t sun4v_version(const struct sun4v_vcpu *v, unsigned word)
{
	return atomic_load_explicit(&v->g->version[word], memory_order_acquire);
}

#endif
