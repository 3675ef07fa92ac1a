/* rule_fuzz.c: any bytes as an event, a tunable, a value and a size; what is taken is read back the same. */
#include <string.h>

#include "ptt/rule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct ptt_filter filters[] = {
	{ "0000:00:10.0", 0x80001, true },
	{ "0000:00:11.0", 0x80004, true },
	{ "0000:01:00.0", 0x00100, false },
};
static const struct ptt_pmu pmus[] = {
	{ .name = "hisi_ptt0_0" },
	{ .name = "hisi_ptt0_2", .nfilters = COUNT(filters), .filter = filters },
};

static void event(const char *text, enum ptt_profile f, uint32_t npmus)
{
	struct ptt_ask a, back;
	struct buf warning = { 0 }, b = { 0 };
	struct err e = { 0 };

	if (ptt_ask_parse(&a, text, pmus + 2 - npmus, npmus, f, &e) < 0) {
		assert(e.code == TALLY_EINVAL && *e.text);
		return;
	}
	ptt_ask_text(&a, &b);
	assert(ptt_ask_parse(&back, b.p, pmus, 2, PTT_PROFILE_SPEC, &e) == 0);
	assert(back.config == a.config && ptt_ask_config(&a) == a.config && !(ptt_ask_ctrl(&a) & 3));
	if (ptt_ask_check(&a, &pmus[1], f, &e, &warning) == 0 && f == PTT_PROFILE_SPEC)
		assert(ptt_direction_text(a.format, a.direction) && !warning.n);
	buf_free(&warning);
	buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t how = size > 0 ? data[0] : 0;
	const enum ptt_profile f = how & 1 ? PTT_PROFILE_DRIVER : PTT_PROFILE_SPEC;
	char text[1024];
	size_t n = size > sizeof(text) ? sizeof(text) - 1 : size > 0 ? size - 1 : 0, ring;
	enum ptt_tune t;
	uint32_t value;

	if (n)
		memcpy(text, data + 1, n);
	text[n] = 0;
	event(text, f, how >> 1 & 1 ? 1 : 2);
	if (ptt_tune_parse(text, f, &value, NULL) == 0)
		assert(value <= 65535);
	if (ptt_tune_find(text, &t, NULL) == 0)
		assert(t < PTT_TUNES);
	if (ptt_ring_parse(text, f, &ring, NULL) == 0)
		assert(ring >= PTT_BUFFER_BYTES && !(ring & (ring - 1)));
	return 0;
}
