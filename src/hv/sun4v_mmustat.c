/*
 * sun4v_mmustat.c: statistics of TLB misses that the hypervisor answers from a
 * TSB (mmustat.txt).
 *
 * The guest lends a buffer of 0x200 bytes; each answered miss adds one to the
 * hits and its ticks to the ticks of one slot.  One writer, the vCPU itself, so plain additions do.
 * The buffer's start is never cleared: that is the guest's part.
 *
 * spec: aligned to 64, and an error drops the buffer that was there; EBADTRAP, of a guest that has not
 * negotiated the call, is such an error.  opensparc: aligned to 8, and an error changes nothing, as the genuine
 * hypervisor was seen to do.  The end of the guest (mach_exit) drops all its buffers.
 */
#include "hv/sun4v_int.h"

void sun4v_mmustat_drop(struct sun4v_vcpu *v)
{
	atomic_store_explicit(&v->bytes, NULL, memory_order_relaxed);
	atomic_store_explicit(&v->area, 0, memory_order_relaxed);
}

enum hv_status sun4v_mmustat_conf(struct sun4v_vcpu *v, const uint64_t o[6], struct hv_out *out)
{
	const struct hv_mem *m = &v->g->o.mem;
	const uint64_t raddr = o[0], old = v->area;
	enum hv_status s = HV_EOK;
	be64 *bytes = NULL;

	if (raddr & (is_opensparc(v) ? 7 : 63))
		s = HV_EBADALIGN;
	else if (raddr > UINT64_MAX - MMUSTAT_BYTES)
		s = HV_ENORADDR;
	else if (raddr && !(bytes = m->at ? m->at(m->arg, raddr, MMUSTAT_BYTES) : NULL))
		s = HV_ENORADDR;
	if (s != HV_EOK) {
		if (!is_opensparc(v))
			sun4v_mmustat_drop(v);
		return s;
	}
	v->area = raddr;
	v->bytes = bytes;
	hv_result(out, old);
	return HV_EOK;
}

enum hv_status sun4v_mmustat_info(struct sun4v_vcpu *v, const uint64_t o[6], struct hv_out *out)
{
	(void)o;
	hv_result(out, v->area);
	return HV_EOK;
}

static const uint8_t words[2][2][MMUSTAT_SIZES] = {
/* where a slot is */
#define MMUSTAT(side, ctx, size, offset) [side][ctx][MMUSTAT_##size] = (offset) / 8,
#include "facts/mmustat.def"
#undef MMUSTAT
};

const struct mmustat_row mmustat_slots[MMUSTAT_SLOTS] = {
#define MMUSTAT(side, context, size, offset) { side, context, #size, offset },
#include "facts/mmustat.def"
#undef MMUSTAT
};

uint32_t mmustat_slot(bool data, bool context, enum mmustat_size size)
{
	return words[data][context][size] * 8u;
}

/* Whole words, so the guest never reads half of one. */
static inline void add_be(be64 *at, uint64_t n)
{
	uint64_t v = __builtin_bswap64(__atomic_load_n(at, __ATOMIC_RELAXED)) + n;

	__atomic_store_n(at, __builtin_bswap64(v), __ATOMIC_RELAXED);
}

void sun4v_tsb_hit(struct sun4v_vcpu *v, bool data, bool context, enum mmustat_size size, uint64_t ticks)
{
	be64 *const bytes = atomic_load_explicit(&v->bytes, memory_order_relaxed), *slot;

	if (!bytes)
		return;
	slot = bytes + words[data][context][size];
	add_be(slot, 1);
	add_be(slot + 1, ticks);
}
