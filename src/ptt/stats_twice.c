/*
 * stats_twice.c: how many posted requests of a trace, of a type and of a requester may be duplicates (twice.c).
 */
#include "ptt/stats_chunk_int.h"

void twice_posted(struct ptt_stats *s, const struct pass *a, const uint8_t *p, const uint8_t *end)
{
	if (s->twice == NULL && ptt_twice_open(&s->twice) < 0) {
		s->failed = true;
		return;
	}
	for (; p < end; p += 4 * PTT_4DW) {
		uint32_t head = raw_head(p, PTT_4DW);
		uint8_t sort = a->head[raw_code(head, PTT_4DW)].sort;

		if ((sort != SORT_MWR32 && sort != SORT_MWR64) || !ptt_twice_next(s->twice, p, a->device))
			continue;
		s->posted_twice++;
		s->type[sort == SORT_MWR64 ? TLP_ROW_MWr64 : TLP_ROW_MWr32].posted_twice++;
		requester_at(s, requester_key(a->device, 0, (uint16_t)(raw_dw(p, PTT_4DW, 1) >> 16)))->posted_twice++;
	}
}
