/* printf_fuzz.c: a format and values from foreign bytes; whatever parses must print, within bounds. */
#include "answer/answer_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const frames[] = { "a`f+0x1", "a`main" };
	struct an_value v[8] = { 0 };
	struct an_row row = { .key = v, .nkeys = COUNT(v), .sum = (int64_t)size };
	const struct an_agg agg = { .name = "", .fn = size % AGG_LQUANTIZE, .row = &row, .nrows = 1 };
	const struct an_agg *const aggs[] = { &agg, &agg };
	struct arena arena = { 0 };
	struct buf b = { 0 };
	struct err e = { 0 };
	struct fmt f;
	for (size_t i = 0; i < COUNT(v) && size >= 4; i++, data += 4, size -= 4)
		v[i] = (struct an_value){ .kind = data[0] % (SLOT_ULINE + 1),
					  .width = (uint8_t)(1u << (data[1] & 3)),
					  .is_signed = data[1] & 4,
					  .i = (int64_t)((uint64_t)data[2] << (data[1] >> 2)),
					  .frame = frames,
					  .nframes = data[1] & 1 ? COUNT(frames) : 0,
					  .s = data[1] & 8 ? (const char *)data : NULL,
					  .len = data[3] % 4 };
	if (fmt_parse(&arena, (const char *)data, size < 64 ? size : 64, &f, &e) == 0) {
		an_printf(&b, &f, v, COUNT(v));
		an_agg_printa(&b, &f, aggs, COUNT(aggs), AN_STACKINDENT, NULL, &e);
		assert(b.n < 64u << 20);
	}
	buf_free(&b);
	arena_free(&arena);
	return 0;
}
