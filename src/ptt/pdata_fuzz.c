/* pdata_fuzz.c: any bytes as a trace file, raw or perf.data, seekable or not; seeds in
 * test/fuzz/pdata. The last byte chooses. What is given out is whole records of bytes that are
 * there; in all no more than the file has. */
#include "ptt/memory_test_int.h"
#include "ptt/pdata_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_to_the_end(struct ptt_reader *r, size_t size, bool packed)
{
	uint64_t bytes = 0;
	struct err e = { 0 };
	struct ptt_chunk c;

	while (ptt_reader_next(r, &c, &e) == 1) {
		const struct ptt_device *dev;

		assert(c.n % (c.format * 4u) == 0 && c.device < ptt_reader_devices(r, &dev));
		text_hash(c.p, c.n);
		bytes += c.n;
		assert(packed || c.n == 0 ||
		       c.offset + c.n <= size); /* an empty one tells of a gap, or of data without records */
	}
	assert(packed || bytes <= size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t how = size ? data[--size] : 0;
	struct ptt_reader_opts o = { .format = (how & 12) == 4 ? PTT_4DW :
					       (how & 12) == 8 ? PTT_8DW :
								 0,
				     .as_perf = how & 2 };
	struct memory m = { .p = data, .n = size, .stream = how & 1 };
	struct bytes_in in = memory_in(&m);
	struct ptt_reader *r = NULL;
	struct err e = { 0 };

	if (ptt_reader_open(&r, &in, &o, &e) == 0)
		read_to_the_end(r, size, ptt_is_zstd(data, size));
	else
		assert(*e.text);
	ptt_reader_close(r);
	return 0;
}
