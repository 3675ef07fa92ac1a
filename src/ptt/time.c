/*
 * time.c: what the Time of a record counts from.
 *
 * Nobody documents it.  Genuine records carry the ticks since the record before (delta); models and other
 * devices may carry a counter that runs (absolute).  Both are numbers modulo 2^32 (8DW) or 2^11 (4DW), so a
 * chunk's records have to tell.  Take the signed step from each Time to the next: a counter goes forward
 * nearly always (a few records may be out of order, and a gap above half the range looks like a step back),
 * while of two deltas the second is the smaller one as often as not.  The share of steps back decides;
 * sizes only where that share is in between, because one idle gap outweighs a thousand busy ones.
 *
 * Not sure: few steps, a share in between, or a Time of 11 bits spread over its whole range, which both
 * a slow trace's counter and a busy one's deltas could be.  Eleven bits that prove nothing count as a counter's: that
 * one is spread over its range whenever records are sparse, while gaps are spread so only when they happen to
 * be about as long as the range.
 *
 * Of a gap that is longer than the range only the rest is left, and nothing in a record tells.  But rests are of
 * all lengths: where records are sparse many steps are half the range or more.  Where arrivals do not know
 * of each other a share of q such steps means a share of q * q that was longer than the whole range; in
 * bursts it is more.  So h of n steps say "sparse" once h * h / n, the gaps that were cut short, is above one.
 */
#include "ptt/decode_inline.h"

#define MOST 4096 /* records looked at */
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
	size_t records = looked_at(n, f), high = 0;
	uint32_t last = records ? time_of(p, f) : 0;

	if (f != PTT_4DW)
		return false;
	for (size_t i = 1; i < records; i++) {
		uint32_t now = time_of(p += f * 4, f);

		high += (is == PTT_TIME_DELTA ? now : now - last) >> 10 & 1;
		last = now;
	}
	return high * high > records;
}
