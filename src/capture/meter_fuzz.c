/* meter_fuzz.c: any bytes in any pieces: each is of a record that is counted, of padding, or damaged, and no request is
 * told of twice. */
#include <stdlib.h>

#include "capture/meter_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint64_t how = size > 2 ? data[0] : 0;
	struct meter *m;
	uint64_t open = 0, packets = 0;

	if (size < 2 ||
	    meter_open(&m, 0x07080001 | (how & 3) << 20 | (how & 4) << 30, (enum ptt_time)(how >> 3 & 1), 64) < 0)
		return 0;
	for (size_t at = 2, n; at < size; at += n) {
		n = 1 + (size_t)data[1] * (1 + (data[at] & 3));
		n = n < size - at ? n : size - at;
		if (meter_take(m, &(struct ptt_aux){ .p = data + at, .n = n, .flags = data[at] == 0xa5 }) < 0)
			abort();
	}
	for (uint32_t i = 0; i <= METER_REQUESTERS; i++) {
		for (uint32_t k = 0; m->row[i] && k < METER_TYPES; k++)
			packets += m->row[i]->type[k].packets;
		open += m->row[i] ? m->row[i]->open : 0;
	}
	assert(packets + m->count[METER_duplicates] == m->records);
	assert(open <= packets);
	assert(m->records * 4 * m->how.format + m->count[METER_damaged_bytes] + m->ntail <= size);
	meter_close(m);
	return 0;
}
