/*
 * twice.c: how many posted requests may be duplicates.
 *
 * 4DW of direction 2 holds a packet between two devices at both ports. For requests that are answered, matching finds
 * the second record. A posted request has no answer and no meaningful tag, so an equal one may as well be another
 * request: interrupts are all equal. So none is removed, and the result is a bound.
 *
 * A duplicate has the same header. Headers are hashed into bits: a header sets its bit, and the next one with the
 * same hash clears it and is counted. That counts half of the equal headers, without an odd one. Different headers
 * with the same hash only make the count larger, so it is an upper bound if a duplicate comes within GENERATION
 * posted requests: older bits are forgotten.
 */
#include "ptt/decode_inline.h"

enum { BITS = 1 << 20, GENERATION = 1 << 16 };

struct ptt_twice {
	uint64_t bit[2][BITS / 64]; /* of this generation, and of the one before */
	uint32_t seen;              /* in this one */
};

int ptt_twice_open(struct ptt_twice **ret)
{
	struct ptt_twice *t = mem_alloc(sizeof(*t));

	if (!t)
		return -TALLY_ENOMEM;
	*ret = t;
	return 0;
}

void ptt_twice_close(struct ptt_twice *t)
{
	mem_free(t);
}

/* Of a header without its time. */
static uint32_t header_bit(const uint8_t *p, uint32_t device)
{
	uint64_t a = (uint64_t)ptt_le32(p + 8) << 32 | ptt_le32(p + 12);
	uint64_t b = (uint64_t)ptt_le32(p + 4) << 32 | (ptt_le32(p) & ~0x7ffu) | (device & 0x7ff);

	return (uint32_t)((a * 0x9e3779b97f4a7c15ull ^ b) * 0xbf58476d1ce4e5b9ull >> 44);
}
static_assert(BITS == 1 << (64 - 44), "the shift above");

static void generation_next(struct ptt_twice *t)
{
	memcpy(t->bit[1], t->bit[0], sizeof(t->bit[1]));
	memset(t->bit[0], 0, sizeof(t->bit[0]));
	t->seen = 0;
}

bool ptt_twice_next(struct ptt_twice *t, const uint8_t *record, uint32_t device)
{
	const uint32_t bit = header_bit(record, device);
	uint64_t mask = 1ull << bit % 64, *now = &t->bit[0][bit / 64], *before = &t->bit[1][bit / 64];

	if (++t->seen == GENERATION)
		generation_next(t);
	if (*now & mask) {
		*now &= ~mask;
		return true;
	}
	if (*before & mask) {
		*before &= ~mask;
		return true;
	}
	*now |= mask;
	return false;
}
