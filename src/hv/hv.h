/*
 * hv: the services of hypervisors, as pure state machines.
 *
 * A call comes in as registers and a guest's memory, and goes out as registers
 * and memory: no clock, no file, no thread, no lock.  What the counters say is
 * asked of a machine through a table of functions; so the same service sits in
 * front of a model, of an emulator's counters, or of a test.
 *
 * Guests are hostile.  Arguments are copied once, checked once and used from the
 * copy; an error has no partial effect; memory is reached only through the
 * functions that the guest's owner gives.
 */
#ifndef TALLY_HV_H
#define TALLY_HV_H

#include <string.h>

#include "base/base.h"

/* A guest's memory by real address. Ranges are whole: when one byte is no memory, nothing is done. Ask hv_mem_is() and
 * the like: where there is `at`, the three before it may be NULL. */
struct hv_mem {
	void *arg;
	bool (*is)(void *arg, uint64_t ra, uint64_t n);          /* all of it is memory; ra + n does not wrap */
	int (*read)(void *arg, uint64_t ra, void *to, size_t n); /* negative: not all of it is memory */
	int (*write)(void *arg, uint64_t ra, const void *from, size_t n);
	/* The bytes themselves, 8-byte aligned, valid until the guest's memory changes; NULL: no such memory. May be
	 * NULL itself: what needs it is then refused. */
	void *(*at)(void *arg, uint64_t ra, size_t n);
};

static inline bool hv_mem_is(const struct hv_mem *m, uint64_t ra, uint64_t n)
{
	return m->is ? m->is(m->arg, ra, n) : m->at(m->arg, ra, n) != NULL;
}

static inline int hv_mem_read(const struct hv_mem *m, uint64_t ra, void *to, size_t n)
{
	const void *p;

	if (m->read)
		return m->read(m->arg, ra, to, n);
	p = m->at(m->arg, ra, n);
	if (!p)
		return -TALLY_EINVAL;
	memcpy(to, p, n);
	return 0;
}

static inline int hv_mem_write(const struct hv_mem *m, uint64_t ra, const void *from, size_t n)
{
	void *p;

	if (m->write)
		return m->write(m->arg, ra, from, n);
	p = m->at(m->arg, ra, n);
	if (!p)
		return -TALLY_EINVAL;
	memcpy(p, from, n);
	return 0;
}

static inline uint64_t be64_get(const void *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return __builtin_bswap64(v);
}
static inline void be64_put(void *p, uint64_t v)
{
	v = __builtin_bswap64(v);
	memcpy(p, &v, 8);
}

#endif
