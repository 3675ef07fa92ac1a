/* power_config_fuzz.c: any bytes as a machine's text: it is refused with words, or runs and its sums balance. */
#include "machine/power.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct gpci_request *request(uint32_t number)
{
	return gpci_request(number, 6, 8);
}

/* The sum of two fields over all records. */
static uint64_t sum(struct power *p, uint32_t number, uint32_t a, uint32_t b)
{
	struct gpci_values v = { .id = 0 };
	uint64_t n = 0;

	for (uint64_t from = 0;
	     power_ops.next(p, (struct papr_caller){ 1, 0 }, request(number), false, from, 0, &v) > 0; from = v.id + 1)
		n += v.v[a] + (b ? v.v[b] : 0);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct power *p = NULL;
	struct err e = { 0 };

	if (power_open(&p, &(struct power_opts){ .level = 255, .config = (const char *)data, .config_bytes = size },
		       &e) < 0) {
		assert(e.text[0] && !p);
		assert(mem_live() == 0);
		return 0;
	}
	for (uint64_t w = 1; w <= 8; w++) { /* processor time; capped and uncapped */
		struct power_retired gone;

		power_run(p, w * POWER_WINDOW);
		gone = power_retired(p);
		assert(sum(p, 0x10, 0, 0) == sum(p, 0x20, 2, 3) + gone.capped + gone.uncapped);
	}
	power_close(p);
	assert(mem_live() == 0);
	return 0;
}
