/* decode_fuzz.c: any bytes as records: each decodes within its table and prints in every form. */
#include "ptt/dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t how = size > 0 ? data[0] : 0;
	const struct ptt_decode_opts o = { .format = how & 1 ? PTT_8DW : PTT_4DW,
					   .time = how & 2 ? PTT_TIME_ABS : PTT_TIME_DELTA,
					   .tag14 = how & 4 };
	const size_t record = 4 * o.format, n = size > 0 ? (size - 1) / record * record : 0;
	struct ptt_chunk c = { .p = data + 1, .n = n, .format = o.format, .first = true, .total = n };
	struct ptt_clock clock = { 0 };
	struct buf b = { 0 };
	struct tlp t = { 0 };
	bool sure;

	for (size_t at = 0; at < n; at += record) {
		ptt_decode(c.p + at, &o, &clock, &t);
		assert(tlp_type_at(t.type_index) == tlp_type_of(t.fmt, t.type));
		assert(t.bytes <= 4096 && t.length_dw <= 1024 && t.tag < 1 << 14);
		ptt_dump_line(&b, &t, "hisi_ptt0_2");
		ptt_dump_json(&b, &t, "hisi_ptt0_2");
		ptt_dump_csv(&b, &t, "hisi_ptt0_2", ',');
	}
	ptt_dump_perf(&b, &c, how & 8);
	ptt_time_guess(c.p, n, o.format, &sure);
	buf_free(&b);
	return 0;
}
