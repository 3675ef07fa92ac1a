/*
 * niagara_trace_fuzz.c: any bytes as a trace, in pieces of any size: every line is taken or skipped, the pieces do not
 * matter, and the invariants hold.
 */
#include "machine/niagara_trace.h"
#include "machine/niagara.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sum(const uint64_t *p, size_t n)
{
	uint64_t s = 0;

	while (n--)
		s += *p++;
	return s;
}

static void read_in(struct niagara *m, uint8_t how, const uint8_t *p, size_t n, size_t piece)
{
	struct niagara_reader reader = { .format = how & 1 ? NIAGARA_DIN : NIAGARA_LACKEY, .strand = how >> 2 };

	for (size_t at = 0; at < n; at += piece)
		niagara_read(&reader, m, (const char *)p + at, piece < n - at ? piece : n - at);
	assert(reader.skipped <= reader.lines);
}

/* Machines are large: they stay, one of each kind for whole inputs and one for pieces, and both have read the same. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct niagara *machine[2][2];
	const struct niagara_truth *t;
	struct niagara **m;

	if (size < 3)
		return 0;
	m = machine[data[0] >> 1 & 1];
	for (uint32_t i = 0; i < 2; i++)
		if (!m[i] && niagara_open(&m[i], sun4v_kind(data[0] & 2 ? "niagara" : "maramba", 0),
					  &(struct niagara_opts){ 0 }, NULL) < 0)
			return 0;
	read_in(m[0], data[0], data + 2, size - 2, size);
	read_in(m[1], data[0], data + 2, size - 2, 1 + data[1]);
	t = niagara_truth(m[0]);
	assert(!memcmp(t, niagara_truth(m[1]), sizeof(*t)));
	assert(sum(t->served, 3) == t->l2_imiss + t->l2_dmiss_ld + t->l2_miss_store + t->l2_miss_walk);
	assert(sum(&t->mcu_reads[0][0], 8) == t->served[0] + t->served[1]);
	return 0;
}
