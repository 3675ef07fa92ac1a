/* stats_exact_test.c: what a report says of a few records, to the number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "ptt/handmade_int.h"
#include "ptt/stats.h"

enum { WHO = 0x0100, OTHER = 0x0200, HOST = 0x0008, COMPLETER = 0x0080, ROOM = 512 * 32 };

/* A chunk that is being made. */
struct made {
	uint8_t bytes[ROOM], *p;
	enum ptt_format format;
};

static void made_put(struct made *m, const struct handmade *h)
{
	if (m->p == NULL)
		m->p = m->bytes;
	assert_true(m->p + 32 <= m->bytes + sizeof(m->bytes));
	m->p = handmade(m->p, m->format, h);
}

/* tag: 10 bits. */
static void made_read(struct made *m, uint32_t time, uint32_t who, uint32_t tag, uint32_t dws)
{
	made_put(m, &(struct handmade){ .length = dws,
					.time = time,
					.dw1 = who << 16 | (tag & 0xff) << 8 | (dws > 1 ? 0xff : 0xf),
					.dw2 = 0x1000,
					.tag_high = tag >> 8 });
}

static void made_answer(struct made *m, uint32_t time, uint32_t who, uint32_t tag, uint32_t dws)
{
	made_put(m, &(struct handmade){ .fmt = 2,
					.type = 0x0a,
					.length = dws,
					.time = time,
					.dw1 = (uint32_t)COMPLETER << 16 | 4 * dws,
					.dw2 = who << 16 | (tag & 0xff) << 8,
					.tag_high = tag >> 8 });
}

/* In two chunks, the first of `front` records: what a requester's first records taught serves the later ones. */
static struct ptt_stats *made_count_parted(const struct made *m, struct ptt_stats_opts o, uint8_t coverage,
					   uint32_t front, const struct ptt_report **r)
{
	const struct ptt_decode_opts d = { .format = m->format, .time = PTT_TIME_ABS };
	const size_t n = (size_t)(m->p - m->bytes), at = 4u * m->format * front;
	struct ptt_chunk c = { .p = m->bytes, .n = at, .format = m->format, .coverage = coverage };
	struct ptt_stats *s = NULL;

	assert_int_equal(ptt_stats_open(&s, &o), 0);
	if (front)
		ptt_stats_chunk(s, &c, &d);
	c.p += at;
	c.n = n - at;
	c.offset = at;
	ptt_stats_chunk(s, &c, &d);
	assert_int_equal(ptt_stats_finish(s, r), 0);
	return s;
}

static struct ptt_stats *made_count(const struct made *m, struct ptt_stats_opts o, uint8_t coverage,
				    const struct ptt_report **r)
{
	return made_count_parted(m, o, coverage, 0, r);
}

/* ---- requests and completions ------------------------------------------------------------------------- */

/* Four requests that differ in the upper two bits of their tags alone are open at once. */
static void all_ten_bits_of_a_tag_tell_requests_apart(void **state)
{
	(void)state;
	for (uint32_t how = 0; how < 4; how++) {
		struct made m = { .format = how & 1 ? PTT_8DW : PTT_4DW };
		const struct ptt_report *r;

		for (uint32_t k = 0; k < 4; k++) { /* tags that are known are matched in another way */
			made_read(&m, 20 * k, WHO, k << 8 | 5, 1);
			made_answer(&m, 20 * k + 10, WHO, k << 8 | 5, 1);
		}
		for (uint32_t k = 0; k < 4; k++)
			made_read(&m, 100 + k, WHO, k << 8 | 5, k + 1);
		for (uint32_t k = 4; k--;)
			made_answer(&m, 200 - k, WHO, k << 8 | 5, k + 1);
		struct ptt_stats *s =
			made_count_parted(&m, (struct ptt_stats_opts){ .match = true }, 0, how & 2 ? 8 : 0, &r);
		assert_int_equal(r->requests, 8);
		assert_int_equal(r->answered, 8);
		assert_int_equal(r->misfits, 0);
		for (uint32_t f = 0; f < PTT_FAULTS; f++)
			assert_int_equal(r->fault_count[f], 0);
		assert_int_equal(r->outstanding_peak, 4);
		assert_int_equal(r->latency->n, 8);
		assert_int_equal(r->latency->sum, 4 * 10 + 4 * 100 - 2 * (0 + 1 + 2 + 3));
		assert_int_equal(r->latency->least, 10);
		assert_int_equal(r->latency->most, 100);
		ptt_stats_close(s);
	}
}

/* Where an event hides some answers, a request counts once it is answered. */
static void bins_have_what_was_opened_and_done_in_them(void **state)
{
	(void)state;
	for (uint32_t how = 0; how < 8; how++) {
		struct made m = { .format = how & 1 ? PTT_8DW : PTT_4DW };
		const bool hidden = how & 4;
		const struct ptt_report *r;
		uint64_t opened = 0, done = 0, tlps = 0, bytes = 0, ticks = 0;

		for (uint32_t k = 0; k < 20; k++) {
			made_read(&m, 40 * k, WHO, k % 2, 2);
			made_answer(&m, 40 * k + 7, WHO, k % 2, 2);
		}
		made_read(&m, 801, WHO, 77, 1);
		struct ptt_stats *s = made_count_parted(&m, (struct ptt_stats_opts){ .match = true },
							PTT_COVERAGE_KNOWN | (hidden ? PTT_COVERAGE_NO_COMPLETIONS : 0),
							how & 2 ? 8 : 0, &r);
		for (uint32_t i = 0; i < r->nbins; i++) {
			opened += r->bin[i].opened;
			done += r->bin[i].done;
			tlps += r->bin[i].tlps;
			bytes += r->bin[i].bytes;
			ticks += r->bin[i].outstanding_ticks;
		}
		assert_int_equal(r->answered, 20);
		assert_int_equal(opened, hidden ? 20 : 21);
		assert_int_equal(done, 20);
		assert_int_equal(tlps, 41);
		assert_int_equal(bytes, 20 * 8);
		assert_int_equal(ticks, 20 * 7);
		assert_int_equal(r->fault_count[PTT_FAULT_UNANSWERED], !hidden);
		ptt_stats_close(s);
	}
}

static const char *note_of(const struct ptt_report *r, enum ptt_note note)
{
	for (uint32_t i = 0; i < r->nnotes; i++)
		if (r->note[i].note == note)
			return r->note[i].text;
	return "";
}

/* The slowest answer took 7. */
static void a_request_no_older_than_the_slowest_answer_may_be_in_flight(void **state)
{
	(void)state;
	for (uint32_t age = 0; age < 12; age++) {
		struct made m = { .format = PTT_8DW };
		const struct handmade write = { .fmt = 2, .length = 1, .time = 90 + age, .dw1 = OTHER << 16 | 0xf };
		const struct ptt_report *r;

		made_read(&m, 10, WHO, 1, 1);
		made_answer(&m, 17, WHO, 1, 1);
		made_read(&m, 20, WHO, 1, 1);
		made_answer(&m, 23, WHO, 1, 1);
		made_read(&m, 90, WHO, 1, 1);
		made_put(&m, &write);
		struct ptt_stats *s = made_count(&m, (struct ptt_stats_opts){ .match = true }, 0, &r);
		assert_int_equal(r->fault_count[PTT_FAULT_UNANSWERED], 1);
		assert_string_equal(note_of(r, PTT_NOTE_IN_FLIGHT),
				    age > 7 ? "" :
					      "1 of 1 unanswered requests may have been in flight at the end: they "
					      "were no older than the slowest answered one.");
		ptt_stats_close(s);
	}
}

/* Of one on the bus of who completes, nobody can see the answers: none of its requests is an error, in neither list. */
static void requests_whose_answers_no_trace_shows_are_in_no_list_of_errors(void **state)
{
	(void)state;
	for (uint32_t all = 0; all < 2; all++)
		for (uint32_t hosts = 0; hosts < 2; hosts++) {
			struct made m = { .format = PTT_8DW };
			const struct ptt_report *r;
			uint32_t t = 0;

			for (uint32_t k = 0; k < 40; k++) {
				made_read(&m, t += 10, WHO, 3, 1);
				made_answer(&m, t += 10, WHO, 3, 1);
				made_read(&m, t += 10, hosts ? HOST : OTHER, k % 20, 1);
			}
			made_read(&m, t += 10, WHO, 3, 1);
			made_read(&m, t += 1000, WHO, 4, 1);
			made_answer(&m, t += 10, WHO, 4, 1);
			struct ptt_stats *s =
				made_count(&m, (struct ptt_stats_opts){ .match = true, .all_errors = all }, 0, &r);
			assert_int_equal(r->answered, 41);
			assert_int_equal(r->unanswerable, hosts ? 40 : 0);
			assert_int_equal(r->requests, hosts ? 42 : 82);
			assert_int_equal(r->fault_count[PTT_FAULT_REUSED], hosts ? 0 : 20);
			assert_int_equal(r->fault_count[PTT_FAULT_UNANSWERED], hosts ? 1 : 21);
			assert_int_equal(r->nfaults, hosts ? 1 : all ? 41 : 2 * PTT_STATS_SAMPLE + 1);
			for (uint32_t i = 0; i < r->nfaults; i++)
				assert_true(r->fault[i].requester != HOST);
			ptt_stats_close(s);
		}
}

/* ---- what goes over the link ---------------------------------------------------------------------------- */

static void traffic_is_headers_payload_and_eight_bytes_of_framing(void **state)
{
	static const struct {
		struct handmade h;
		uint64_t payload, useful, header;
	} row[] = {
		{ { .fmt = 0, .length = 4, .dw1 = WHO << 16 | 0xff, .dw2 = 0x1000 }, 0, 0, 12 },
		{ { .fmt = 1, .length = 4, .dw1 = WHO << 16 | 0xff, .dw2 = 1 }, 0, 0, 16 },
		{ { .fmt = 2, .length = 4, .dw1 = WHO << 16 | 0xff, .dw2 = 0x1000 }, 16, 16, 12 },
		{ { .fmt = 3, .length = 4, .dw1 = WHO << 16 | 0x7e, .dw2 = 1 }, 16, 14, 16 },
		{ { .fmt = 2, .length = 1, .dw1 = WHO << 16 | 0x3, .dw2 = 0x1000 }, 4, 2, 12 },
		{ { .fmt = 3, .type = 0x1f, .length = 1 }, 0, 0, 0 }, /* nobody knows what that is */
	};

	(void)state;
	for (uint32_t match = 0; match < 2; match++)
		for (size_t i = 0; i < COUNT(row); i++)
			for (uint32_t n = 1; n <= 3; n++) {
				struct made m = { .format = PTT_8DW };
				const struct ptt_report *r;

				for (uint32_t k = 0; k < n; k++)
					made_put(&m, &row[i].h);
				struct ptt_stats *s = made_count(&m, (struct ptt_stats_opts){ .match = match }, 0, &r);
				const uint64_t tlps = row[i].header ? n : 0;
				assert_int_equal(r->records, n);
				assert_int_equal(r->traffic.tlps, tlps);
				assert_int_equal(r->traffic.framing_bytes, 8 * tlps);
				assert_int_equal(r->traffic.header_bytes, n * row[i].header);
				assert_int_equal(r->traffic.payload_bytes, n * row[i].payload);
				assert_int_equal(r->traffic.useful_bytes, n * row[i].useful);
				assert_int_equal(r->nrequesters, tlps != 0);
				if (tlps) {
					assert_int_equal(r->requester[0].requester, WHO);
					assert_int_equal(r->requester[0].tlps, n);
				}
				ptt_stats_close(s);
			}
}

/* ---- posted requests that come twice --------------------------------------------------------------------- */

static void posted_requests_are_alike_in_all_of_their_header_but_the_time(void **state)
{
	static const struct handmade first = {
		.fmt = 3, .length = 4, .time = 5, .dw1 = WHO << 16 | 0xff, .dw2 = 1, .dw3 = 0x1000
	};
	struct handmade second[7];
	const struct ptt_report *r;

	(void)state;
	for (uint32_t i = 0; i < COUNT(second); i++)
		second[i] = first;
	second[0].time = 77;
	second[1].length = 5;
	second[2].dw1 ^= 1 << 16;
	second[3].dw1 ^= 1 << 8;
	second[4].dw2 ^= 1;
	second[5].dw3 ^= 4;
	second[6].dw3 ^= 1u << 31;
	for (uint32_t duplicates = 0; duplicates < 2; duplicates++)
		for (uint32_t i = 0; i < COUNT(second); i++) {
			struct made m = { .format = PTT_4DW };
			const bool twice = duplicates && i == 0;

			made_put(&m, &first);
			made_read(&m, 10, OTHER, 1, 1);
			made_put(&m, &second[i]);
			made_answer(&m, 20, OTHER, 1, 1);
			struct ptt_stats *s = made_count(&m, (struct ptt_stats_opts){ .match = true },
							 duplicates ? PTT_COVERAGE_KNOWN | PTT_COVERAGE_DUPLICATES :
								      PTT_COVERAGE_KNOWN,
							 &r);
			if (r->posted_twice != twice)
				fail_msg("row %u: %u", i, (unsigned)r->posted_twice);
			for (uint32_t k = 0; k < r->ntypes; k++)
				assert_int_equal(r->type[k].posted_twice,
						 twice && r->type[k].type_index == TLP_ROW_MWr64);
			for (uint32_t k = 0; k < r->nrequesters; k++)
				assert_int_equal(r->requester[k].posted_twice,
						 twice && r->requester[k].requester == WHO);
			ptt_stats_close(s);
		}
}

/* ---- time that goes back -------------------------------------------------------------------------------- */

/* One stray record is none; when Time goes on from what has passed, that is a gap, and times are no longer the
 * clock's. */
static void time_that_goes_on_from_the_past_is_a_gap_and_moves_the_device(void **state)
{
	(void)state;
	for (uint32_t match = 0; match < 2; match++)
		for (uint32_t back = 0; back < 2; back++) {
			struct made m = { .format = PTT_8DW };
			const struct ptt_report *r;
			uint32_t t = 100;

			for (uint32_t k = 0; k < 40; k++, t += 100)
				made_read(&m, t, WHO, k, 1);
			t -= back ? 2000 : 0;
			for (uint32_t k = 40; k < 80; k++, t += 100)
				made_read(&m, t, WHO, k, 1);
			struct ptt_stats *s = made_count(&m, (struct ptt_stats_opts){ .match = match }, 0, &r);
			assert_int_equal(r->ndevices, 1);
			assert_int_equal(r->device[0].moved, back);
			assert_int_equal(r->gaps, back);
			assert_int_equal(r->ngaps, back);
			if (back) {
				assert_int_equal(r->gap[0].why, PTT_GAP_TIME);
				assert_int_equal(r->gap[0].offset, 40 * 32);
			}
			assert_int_equal(r->strays, 0);
			ptt_stats_close(s);
		}
}

/* Records are missing somewhere between two places: what is open at the first or at the second was cut by one gap. */
static void what_is_open_at_both_ends_of_a_gap_is_cut_by_it(void **state)
{
	(void)state;
	for (uint32_t before = 0; before < 3; before++)
		for (uint32_t within = 0; within < 4; within++) {
			const struct ptt_decode_opts d = { .format = PTT_8DW, .time = PTT_TIME_ABS };
			const struct ptt_stats_opts o = { .match = true };
			const enum ptt_gap_why why[] = { PTT_GAP_NONE, PTT_GAP_BROKEN_OFF, PTT_GAP_BROKEN_END };
			const uint32_t requests[] = { before, within, 1 };
			const struct ptt_report *r;
			struct ptt_stats *s;
			struct made m[3];
			uint32_t t = 1000;

			assert_int_equal(ptt_stats_open(&s, &o), 0);
			for (uint32_t i = 0; i < 3; i++) {
				m[i] = (struct made){ .format = PTT_8DW };
				made_read(&m[i], t += 100, WHO, 200 + i, 1);
				made_answer(&m[i], t += 10, WHO, 200 + i, 1); /* it is one whose answers are seen */
				for (uint32_t k = 0; k < requests[i]; k++)
					made_read(&m[i], t += 100, WHO, 10 * i + k, 1);
				struct ptt_chunk c = { .p = m[i].bytes,
						       .n = (size_t)(m[i].p - m[i].bytes),
						       .format = PTT_8DW,
						       .offset = 4096ull * i,
						       .gap = { .why = why[i] } };

				ptt_stats_chunk(s, &c, &d);
			}
			assert_int_equal(ptt_stats_finish(s, &r), 0);
			assert_int_equal(r->cut, before + within);
			assert_int_equal(r->ngaps, 1);
			assert_int_equal(r->gap[0].why, PTT_GAP_BROKEN_OFF);
			assert_int_equal(r->gap[0].cut, before + within);
			assert_int_equal(r->gap[0].offset, 4096);
			ptt_stats_close(s);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_ten_bits_of_a_tag_tell_requests_apart),
		cmocka_unit_test(bins_have_what_was_opened_and_done_in_them),
		cmocka_unit_test(a_request_no_older_than_the_slowest_answer_may_be_in_flight),
		cmocka_unit_test(requests_whose_answers_no_trace_shows_are_in_no_list_of_errors),
		cmocka_unit_test(traffic_is_headers_payload_and_eight_bytes_of_framing),
		cmocka_unit_test(posted_requests_are_alike_in_all_of_their_header_but_the_time),
		cmocka_unit_test(time_that_goes_on_from_the_past_is_a_gap_and_moves_the_device),
		cmocka_unit_test(what_is_open_at_both_ends_of_a_gap_is_cut_by_it),
	};

	return cmocka_run_group_tests_name("ptt: stats, exact", tests, NULL, NULL);
}
