/* stats_record.c: what stats_chunk.c does for a whole chunk, for one record. */
#include "ptt/stats_record.h"

#include "ptt/stats_int.h"

void ptt_stats_record(struct ptt_stats *s, const struct tlp *t)
{
	struct stats_device *d = device_at(s, t->device);
	const struct ptt_pair *pair = NULL;
	bool second = false;

	if (tlp_type_at(t->type_index) == NULL || t->length_dw > 1024 || t->class > TLP_RESERVED || t->status > 7)
		return;
	struct ptt_bin *b = bin_at(s, d, t->time);
	b->tlps++;
	b->bytes += 4 * t->length_dw & s->payload[t->type_index];
	d->clock.now = t->time;
	d->format = t->dws;
	struct stats_requester *r = count_record(s, d, t);
	if (s->match != NULL && r != NULL && (t->class == TLP_NP || t->class == TLP_CPL))
		pair = count_matched(s, d, t, r, &second);
	if ((t->ep | t->status) && !second)
		fault_rare(s, t, pair);
	if (s->track != NULL)
		track_records(s, d, 1);
}
