/*
 * time.c: what the Time of a record counts from.
 *
 * This is not documented. Genuine records have the ticks since the record before (delta); models and other devices
 * may have a running counter (absolute). Both are numbers modulo 2^32 (8DW) or 2^11 (4DW), so a chunk's records must
 * tell. Take the signed step from each Time to the next: a counter nearly always goes forward (a few records may be
 * out of order, and a gap above half the range looks like a step back), while of two deltas the second is smaller in
 * half of the cases. The share of steps back decides. Sizes decide only if that share is in between, because one idle
 * gap outweighs a thousand busy ones.
 *
 * The result is uncertain after few steps, with a share in between, or if a Time of 11 bits is spread over its whole
 * range, which a slow trace's counter and a busy trace's deltas can both be. Eleven bits that prove nothing count as
 * a counter: a counter is spread over its range whenever records are sparse, while gaps are spread so only if they
 * happen to be about as long as the range.
 *
 * Gaps longer than the range appear modulo the range, and no single record shows that. But their remainders are
 * spread evenly: where records are sparse many steps are half the range or more. If arrivals are independent, a share
 * of q such steps means a share of q * q steps longer than the whole range; in bursts it is more. So h of n steps
 * mean "sparse" once h * h / n, the number of shortened gaps, is above one. With dense bursts and long pauses hardly
 * a step is long, and h proves nothing. But the number of steps falls with their length, so there are fewer in the
 * last quarter of the range than in the third, while remainders of longer steps are spread evenly. If the last
 * quarter has more than half as many as the third, at least as many are beyond the range, and that means "sparse"
 * too.
 *
 * Out of order. A counter of 32 bits that seems to go forward by half its range or more has gone back, or nothing was
 * recorded for as long. One record does not make a wrap: if the next records continue from the one before it, its
 * Time is a stray, and it gets the time of the record before. If they continue from it, and it lies within the time
 * that has passed, records are in the wrong place.
 */
#include "ptt/decode_inline.h"

#define MOST 4096  /* records looked at */
#define PLACE 8192 /* of so many records the first are looked at for long gaps */
#define PLACE_LOOKED 2048
#define ENOUGH 16 /* steps for an answer that is sure */

struct steps {
	uint32_t forward, back, none;
	uint32_t high; /* Times in the upper half of the range */
	int64_t net, total;
	bool zero; /* every Time was 0 */
};

static uint32_t time_of(const uint8_t *p, enum ptt_format f)
{
	return f == PTT_8DW ? ptt_le32(p + 28) : ptt_le32(p) & 0x7ff;
}

static struct steps count_steps(const uint8_t *p, size_t records, enum ptt_format f)
{
	unsigned unused = f == PTT_8DW ? 0 : 21;
	struct steps s = { .zero = true };
	uint32_t last = 0;

	for (size_t i = 0; i < records; i++, p += f * 4) {
		uint32_t now = time_of(p, f);
		int64_t step = i > 0 ? (int32_t)((now - last) << unused) >> unused : 0;
		s.zero &= now == 0;
		s.high += now << unused >> 31;
		s.forward += step > 0;
		s.back += step < 0;
		s.none += i > 0 && step == 0;
		s.net += step;
		s.total += step < 0 ? -step : step;
		last = now;
	}
	return s;
}

/* A counter that stands still: only deltas are equal for so long, unless nothing is counted at all. */
static enum ptt_time guess_still(const struct steps *s, bool *sure)
{
	*sure = s->none >= ENOUGH && !s->zero;
	return PTT_TIME_DELTA;
}

static enum ptt_time time_guess_kind(const uint8_t *p, size_t records, enum ptt_format f, bool *sure)
{
	struct steps s = count_steps(p, records, f);
	uint32_t moved = s.forward + s.back;

	if (moved == 0)
		return guess_still(&s, sure);
	*sure = moved >= ENOUGH;
	if (s.back * 10 <= moved)
		return PTT_TIME_ABS;
	if (s.back * 10 >= moved * 4) {
		*sure &= s.high * 4 <= records;
		return PTT_TIME_DELTA;
	}
	*sure = false;
	return s.net * 2 > s.total ? PTT_TIME_ABS : PTT_TIME_DELTA;
}

static size_t looked_at(size_t n, enum ptt_format f)
{
	return n / (f * 4) < MOST ? n / (f * 4) : MOST;
}

enum ptt_time ptt_time_guess(const uint8_t *p, size_t n, enum ptt_format f, bool *sure)
{
	enum ptt_time is = time_guess_kind(p, looked_at(n, f), f, sure);

	return f == PTT_4DW && !*sure ? PTT_TIME_ABS : is;
}

bool ptt_time_is_sparse(const uint8_t *p, size_t n, enum ptt_format f, enum ptt_time is)
{
	size_t records = 0, third = 0, fourth = 0;

	if (f != PTT_4DW)
		return false;
	for (size_t i = 1; i < n / (f * 4); i++) {
		uint32_t now = time_of(p + i * f * 4, f),
			 step = is == PTT_TIME_DELTA ? now : now - time_of(p + (i - 1) * f * 4, f);

		third += (step >> 9 & 3) == 2;
		fourth += (step >> 9 & 3) == 3;
		records++;
		if (i % PLACE == PLACE_LOOKED)
			i += PLACE - PLACE_LOOKED; /* the next place; the step to it is not looked at */
	}
	const size_t high = third + fourth;
	return high * high > records || (fourth >= ENOUGH && 2 * fourth > third);
}

enum { STRAYS_MOST = 16 }; /* records that may be behind the last one before they are where Time goes on */

bool ptt_time_is_stray(const uint8_t *p, const uint8_t *end, uint32_t last)
{
	const size_t record = 4 * PTT_8DW;
	const uint32_t raw = time_of(p, PTT_8DW);

	if (raw - last < 1u << 31) { /* ahead: the next two say whether it went too far */
		if ((size_t)(end - p) < 2 * record)
			return false;
		const uint32_t next = time_of(p + record, PTT_8DW);
		const uint32_t third = (size_t)(end - p) < 3 * record ? next : time_of(p + 2 * record, PTT_8DW);
		return (next - raw) >> 31 && !((next - last) >> 31) && (third - raw) >> 31;
	}
	for (uint32_t i = 1; i <= STRAYS_MOST; i++) {
		if ((size_t)(end - p) < (i + 1) * record)
			return i == 1;
		if (!((time_of(p + i * record, PTT_8DW) - last) >> 31))
			return true;
	}
	return false;
}

uint64_t ptt_clock_back(struct ptt_clock *c, uint32_t raw)
{
	const uint32_t back = c->last - raw;

	if (back < c->doubt) { /* it was the last record that went too far */
		c->now -= back;
		c->last = raw;
		c->doubt = 0;
		return c->now;
	}
	if (++c->strays < STRAYS_MOST && back)
		return c->now;
	c->strays = 0;
	c->now += back > c->now ? (uint32_t)-back : 0;
	c->last = raw;
	return c->now;
}
