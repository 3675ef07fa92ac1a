/*
 * niagara_memory.c: the memory controllers, two for each node.
 *
 * Bit 12 of the address chooses the controller. A controller serves one line at a time; later lines wait, and the
 * queue events are the cycles from arrival to end, summed. A strand that is far behind the others (its references
 * come in later than theirs) meets no queue: the controller's state at that earlier time is no longer known.
 *
 * The lines written back last are remembered; a read of one of them is a hit in the write-back buffer, and is still
 * counted as a read.
 */
#include "machine/niagara_int.h"

#define SERVICE 24u   /* cycles that a line takes */
#define BEHIND 16384u /* cycles: more than any queue of strands that run together */
enum { MCU_READS, MCU_WRITES, MCU_RW, MCU_RD_QUEUE = 4, MCU_WR_QUEUE, MCU_RW_QUEUE, MCU_WB_HIT };

/* Cycles until it is done. */
static uint64_t mcu_queue_access(struct mcu *m, uint64_t now)
{
	uint64_t start = m->free_at > now ? m->free_at : now;

	if (now + BEHIND < m->last)
		return SERVICE;
	m->last = now > m->last ? now : m->last;
	m->free_at = start + SERVICE;
	return m->free_at - now;
}

static struct mcu *mcu_of(struct niagara *n, uint64_t pa)
{
	return &n->node[home_of(n, pa)].mcu[pa >> 12 & 1];
}

uint64_t memory_read(struct niagara *n, uint64_t pa, uint64_t now)
{
	struct mcu *m = mcu_of(n, pa);
	uint64_t time = mcu_queue_access(m, now);

	n->truth.mcu_reads[home_of(n, pa)][pa >> 12 & 1]++;
	add(&m->event[MCU_READS], 1);
	add(&m->event[MCU_RW], 1);
	add(&m->event[MCU_RD_QUEUE], time);
	add(&m->event[MCU_RW_QUEUE], time);
	if (sign_find(&m->sign, m->buffer, (pa >> LINE_BITS) + 1) < WB_BUFFER)
		add(&m->event[MCU_WB_HIT], 1);
	return time - SERVICE;
}

void memory_write(struct niagara *n, uint64_t pa, uint64_t now)
{
	struct mcu *m = mcu_of(n, pa);
	const uint32_t at = m->nbuffer++ % WB_BUFFER;
	uint64_t time = mcu_queue_access(m, now);

	n->truth.mcu_writes[home_of(n, pa)][pa >> 12 & 1]++;
	add(&m->event[MCU_WRITES], 1);
	add(&m->event[MCU_RW], 1);
	add(&m->event[MCU_WR_QUEUE], time);
	add(&m->event[MCU_RW_QUEUE], time);
	m->buffer[at] = (pa >> LINE_BITS) + 1;
	sign_put(&m->sign, at, m->buffer[at]);
}
