/*
 * vf_reg.c: the 90 registers of vf_perf_api.txt 3.1 and the events that select
 * fields name, as tables; the rows are facts, the bits follow from the class.
 */
#include <strings.h>

#include "hv/sun4v.h"

/* Readable and writable bits by class. Reserved ones read as zero: no source says what they are. The two 31-bit
 * counters of a memory controller leave bits 63 and 31. Bits 63 and 62 of the PCR (HOLDOV) can be written, and read as
 * zero. */
#define MASK_VF_SPARC_PCR 0xc0000000ffffffffu
#define MASK_VF_L2_CR 0x3u
#define MASK_VF_MCU_PCR 0xffu
#define MASK_VF_MCU_PIC 0x7fffffff7fffffffu
#define MASK_VF_ZAM_PCR 0xffffu
#define MASK_VF_ZAM_PIC0 UINT64_MAX
#define MASK_VF_ZAM_PIC1 UINT64_MAX

const struct vf_reg vf_regs[VF_REGS] = {
#define VF_REG(n, name, node, unit, class, group, local, global) \
	[n] = { #name, group, n, class, node, unit, MASK_##class, local, global },
#include "facts/vf_reg.def"
#undef VF_REG
};

static const struct vf_event events[] = {
#define VF_EVENT(set, name, code, emask, text) { #name, text, code, VF_EVENTS_##set, emask },
#include "facts/vf_event.def"
#undef VF_EVENT
};

const struct vf_event *vf_event_at(uint32_t i)
{
	return i < COUNT(events) ? &events[i] : NULL;
}

const struct vf_event *vf_event_of_code(enum vf_eventset set, uint64_t code)
{
	for (uint32_t i = 0; i < COUNT(events); i++)
		if (events[i].set == set && events[i].code == code)
			return &events[i];
	return NULL;
}

const struct vf_event *vf_event_find(enum vf_eventset set, const char *name)
{
	for (uint32_t i = 0; i < COUNT(events); i++)
		if (events[i].set == set && !strcasecmp(events[i].name, name))
			return &events[i];
	return NULL;
}
