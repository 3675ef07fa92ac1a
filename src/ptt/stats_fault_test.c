/* stats_fault_test.c: which of many errors a report names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "ptt/handmade_int.h"
#include "ptt/stats.h"

/* A record of 8DW: Fmt, Type, more of DW0, tag, and whom it is of. Completions have a status. */
static uint8_t *put_packet(uint8_t *p, uint32_t time, uint32_t fmt, uint32_t type, uint32_t who, uint32_t tag,
			   uint32_t status, uint32_t dw0)
{
	const bool completion = type == 0x0a;
	const uint32_t from = who << 16 | tag << 8;
	struct handmade h = {
		.fmt = fmt, .type = type, .length = completion && fmt == 0 ? 0 : 1, .time = time, .dw0 = dw0
	};

	h.dw1 = completion ? 0x0080u << 16 | status << 13 | 4 : from | 0xf;
	h.dw2 = completion ? from : 0x1000;
	return handmade(p, PTT_8DW, &h);
}

/* 500 requests that one requester gets an error for, and behind them one error of each other kind, what weighs most
 * last. */
static void real_errors_were_hidden_behind_the_first_64_of_a_kind(void **state)
{
	enum { NOISE = 500, WHO = 0x0100, OTHER = 0x0200 };
	static const struct {
		enum ptt_fault fault;
		uint32_t who;
	} want[] = {
		{ PTT_FAULT_UNANSWERED, OTHER },
		{ PTT_FAULT_REUSED, OTHER + 1 },
		{ PTT_FAULT_UR, WHO },
		{ PTT_FAULT_CA, OTHER + 2 },
		{ PTT_FAULT_RESERVED, 0 },
		{ PTT_FAULT_POISONED, OTHER + 4 },
		{ PTT_FAULT_UNEXPECTED_CPL, OTHER + 5 },
		{ PTT_FAULT_UR, WHO },
		{ PTT_FAULT_UR, WHO },
		{ PTT_FAULT_UR, WHO },
	};
	static uint8_t bytes[(2 * NOISE + 12) * 32];
	uint8_t *p = bytes;
	uint32_t t = 100;

	(void)state;
	for (uint32_t i = 0; i < NOISE; i++) {
		p = put_packet(p, t++, 0, 0, WHO, i % 200, 0, 0);
		p = put_packet(p, t++, 0, 0x0a, WHO, i % 200, 1, 0);
	}
	p = put_packet(p, t++, 2, 0x0a, OTHER + 5, 9, 0, 0);
	p = put_packet(p, t++, 2, 0, OTHER + 4, 0, 0, 1 << 14);
	p = put_packet(p, t++, 3, 0x1f, 0, 0, 0, 0);
	p = put_packet(p, t++, 0, 0, OTHER + 2, 3, 0, 0);
	p = put_packet(p, t++, 0, 0x0a, OTHER + 2, 3, 4, 0);
	p = put_packet(p, t++, 0, 0, OTHER + 1, 7, 0, 0);
	p = put_packet(p, t++, 0, 0, OTHER + 1, 7, 0, 0);
	p = put_packet(p, t++, 2, 0x0a, OTHER + 1, 7, 0, 0);
	p = put_packet(p, t++, 0, 0, OTHER, 1, 0, 0);
	p = put_packet(p, t + 5000, 0, 0, WHO, 0, 0, 0); /* long after: the one before it is not under way */
	p = put_packet(p, t + 5001, 2, 0x0a, WHO, 0, 0, 0);
	for (uint32_t all = 0; all < 2; all++) {
		const struct ptt_stats_opts o = { .match = true, .all_errors = all };
		const struct ptt_decode_opts d = { .format = PTT_8DW, .time = PTT_TIME_ABS };
		const struct ptt_chunk c = { .p = bytes, .n = (size_t)(p - bytes), .format = PTT_8DW };
		const struct ptt_report *r;
		struct ptt_stats *s;
		uint32_t noise = 0;

		assert_int_equal(ptt_stats_open(&s, &o), 0);
		ptt_stats_chunk(s, &c, &d);
		assert_int_equal(ptt_stats_finish(s, &r), 0);
		assert_int_equal(r->fault_count[PTT_FAULT_UR], NOISE);
		assert_int_equal(r->nfaults, all ? NOISE + 6 : COUNT(want));
		for (uint32_t i = 0; !all && i < COUNT(want); i++)
			if (r->fault[i].fault != want[i].fault || (want[i].who && r->fault[i].requester != want[i].who))
				fail_msg("row %u is %s of %04x", i, ptt_fault_name((enum ptt_fault)r->fault[i].fault),
					 r->fault[i].requester);
		for (uint32_t i = 0; i < r->nfaults; i++)
			noise += r->fault[i].fault == PTT_FAULT_UR;
		assert_int_equal(noise, all ? NOISE : PTT_STATS_SAMPLE);
		for (uint32_t i = 1; all && i < r->nfaults; i++) /* by kind, and in the order of the file */
			assert_true(r->fault[i - 1].fault < r->fault[i].fault ||
				    (r->fault[i - 1].fault == r->fault[i].fault &&
				     r->fault[i - 1].offset < r->fault[i].offset));
		ptt_stats_close(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_errors_were_hidden_behind_the_first_64_of_a_kind),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
