/* device_test_int.h: a device with memory behind it, and packets, for tests and fuzzing. */
#ifndef TALLY_PTT_DEVICE_TEST_INT_H
#define TALLY_PTT_DEVICE_TEST_INT_H

#include <string.h>

#include "ptt/device.h"

struct guest {
	struct ptt_dev *dev;
	uint8_t *memory; /* `n` bytes at bus address `base` */
	uint64_t base, n;
	bool broken; /* DMA fails */
	uint32_t writes, interrupts;
	void (*on_irq)(struct guest *g);
	void *arg;
};

static inline int guest_dma(void *arg, uint64_t to, const void *p, size_t n)
{
	struct guest *g = arg;

	g->writes++;
	if (g->broken || to < g->base || to - g->base > g->n || n > g->n - (to - g->base))
		return -TALLY_EIO;
	memcpy(g->memory + (to - g->base), p, n);
	return 0;
}

static inline void guest_irq(void *arg)
{
	struct guest *g = arg;

	g->interrupts++;
	if (g->on_irq)
		g->on_irq(g);
}

/* Over memory that is the caller's. */
static inline int guest_open_over(struct guest *g, const struct ptt_dev_opts *o, uint8_t *memory, uint64_t base,
				  uint64_t n)
{
	const struct ptt_host host = { g, guest_dma, guest_irq };

	*g = (struct guest){ .memory = memory, .base = base, .n = n };
	if (ptt_dev_open(&g->dev, o) < 0)
		return -TALLY_ENOMEM;
	ptt_dev_host(g->dev, &host);
	return 0;
}

static inline int guest_open(struct guest *g, const struct ptt_dev_opts *o, uint64_t base, uint64_t n)
{
	uint8_t *memory = mem_alloc(n);

	if (!memory)
		return -TALLY_ENOMEM;
	if (guest_open_over(g, o, memory, base, n) == 0)
		return 0;
	mem_free(memory);
	return -TALLY_ENOMEM;
}

static inline void guest_close(struct guest *g)
{
	ptt_dev_close(g->dev);
	mem_free(g->memory);
}

/* Chance that is the same each time. */
static inline uint32_t chance(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % below;
}

/* Any packet, of a header that no table needs to know. */
static inline struct ptt_tlp any_packet(uint64_t *seed, uint64_t now)
{
	struct ptt_tlp t = { .now = now,
			     .outbound = chance(seed, 2),
			     .cls = (uint8_t)chance(seed, 4),
			     .port = (uint16_t)(1u << 2 * chance(seed, 8)),
			     .function = (uint16_t)(0x100 + chance(seed, 4)) };

	for (int i = 0; i < 4; i++)
		t.dw[i] = chance(seed, 0x7fffffff);
	t.dw[0] = (t.dw[0] & 0x1fffffff) | 0x20000000; /* Fmt 1 */
	t.prefix = chance(seed, 4) ? 0 : 0x91000000 | chance(seed, 1 << 20);
	return t;
}

#endif
