/* stats_fuzz.c: any bytes as chunks of records: alone or by two shards, with matching or not, each record is counted
 * once. */
#include "ptt/stats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ptt_stats *opened(const struct ptt_stats_opts *o)
{
	struct ptt_stats *s;

	return ptt_stats_open(&s, o) < 0 ? NULL : s;
}

/* In chunks of 64 records, of two devices in turn. */
static void count(struct ptt_stats *s, const uint8_t *p, size_t n, const struct ptt_decode_opts *o)
{
	const size_t most = 64 * 4 * o->format;

	for (size_t at = 0; at < n; at += most) {
		struct ptt_chunk c = { .p = p + at,
				       .n = n - at < most ? n - at : most,
				       .format = o->format,
				       .offset = at,
				       .device = at / most & 1 };
		ptt_stats_chunk(s, &c, o);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t how = size > 0 ? data[0] : 0;
	const struct ptt_decode_opts o = { .format = how & 1 ? PTT_8DW : PTT_4DW,
					   .time = how & 2 ? PTT_TIME_ABS : PTT_TIME_DELTA,
					   .tag14 = how & 4 };
	const size_t record = 4 * o.format, n = size > 0 ? (size - 1) / record * record : 0;
	struct ptt_stats_opts so = { .match = how & 8, .most_outstanding = 8, .shards = how & 16 ? 2 : 1 };
	struct ptt_stats *s[2] = { opened(&so), NULL };
	const struct ptt_report *r;
	uint64_t packets = 0, kinds = 0;

	if (so.shards == 2) {
		so.shard = 1;
		s[1] = opened(&so);
	}
	if (s[0] != NULL && (s[1] != NULL || so.shards == 1)) {
		count(s[0], data + 1, n, &o);
		if (s[1] != NULL) {
			count(s[1], data + 1, n, &o);
			int rc = ptt_stats_merge(s[0], s[1]);
			assert(rc == 0);
		}
		for (size_t at = 1; at <= n; at += record)
			packets += !ptt_is_padding(data + at, o.format);
		int rc = ptt_stats_finish(s[0], &r);
		assert(rc == 0);
		assert(r->records == packets);
		for (uint32_t i = 0; i < r->ntypes; i++)
			kinds += r->type[i].tlps;
		assert(kinds == packets);
	}
	ptt_stats_close(s[0]);
	ptt_stats_close(s[1]);
	return 0;
}
