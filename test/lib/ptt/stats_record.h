/* stats_record.h: records that a test has made or decoded, counted one by one; the product counts chunks. */
#ifndef TEST_PTT_STATS_RECORD_H
#define TEST_PTT_STATS_RECORD_H

#include "ptt/ptt.h"
#include "ptt/stats.h"

/* Counts one decoded record; one of a type, length, class or status that no record has is ignored. Not together with
 * shards. */
void ptt_stats_record(struct ptt_stats *s, const struct tlp *t);

#endif
