/*
 * sun4v_invariant_mmustat_test.c: the invariants of MMU statistics: a row of a test adds something to one word of a
 * strand's buffer, or to its misses, and says what becomes of one invariant by it.
 */
#include "hv/sun4v_invariant_test_int.h"

static struct world w;

/* Two strands of a Niagara, whose handler tells what it found in no TSB. */
static void niagara_open(const struct moved *moved)
{
	world_open(&w, "niagara", 1, all_rights);
	w.transport.strands = 2;
	w.transport.tick_hz = 1000;
	w.ops.tsb_missed = world_tsb_missed;
	if (moved)
		memcpy(w.moved, moved, sizeof(w.moved));
}

#define MMU_ROW(name) __LINE__, MMUSTAT_INVARIANT_##name
struct mmu_row {
	int line;
	uint32_t name;
	struct moved moved[4];
	const char *broken;
};

static void check_mmu_rows(const struct mmu_row *row, size_t n, bool usual)
{
	for (size_t i = 0; i < n; i++) {
		struct sun4v_watch *watch;

		niagara_open(row[i].moved);
		w.usual = usual;
		watch = world_watch(&w, SUN4V_MMUSTAT, 1000000000);
		assert_verdict(row[i].line, watch, SUN4V_MMUSTAT, row[i].name,
			       row[i].broken ? SUN4V_BROKEN : SUN4V_HOLDS, row[i].broken);
		sun4v_watch_close(watch);
		world_close(&w);
	}
}

static void statistics_that_keep_to_them_break_none(void **state)
{
	struct sun4v_watch *watch;

	(void)state;
	niagara_open(NULL);
	watch = world_watch(&w, SUN4V_MMUSTAT, 0);
	assert_int_equal(w.passes, 1);
	assert_int_equal(w.passed, 1000000000);
	for (uint32_t name = 0; name < MMUSTAT_INVARIANT_COUNT; name++)
		assert_verdict(__LINE__, watch, SUN4V_MMUSTAT, name, SUN4V_HOLDS, NULL);
	sun4v_watch_close(watch);
	world_close(&w);
}

static void where_no_tsb_answered_nothing_is_known(void **state)
{
	struct sun4v_watch *watch;

	(void)state;
	niagara_open(NULL);
	w.usual = false;
	watch = world_watch(&w, SUN4V_MMUSTAT, 1000);
	for (uint32_t name = 0; name < MMUSTAT_INVARIANT_COUNT; name++)
		assert_verdict(__LINE__, watch, SUN4V_MMUSTAT, name, SUN4V_UNKNOWN,
			       name < MMUSTAT_INVARIANT_hits_are_misses ? "no TSB answered a miss meanwhile" :
									  "no TLB was missed meanwhile");
	sun4v_watch_close(watch);
	world_close(&w);
}

static void words_of_statistics_grow_where_they_may(void **state)
{
	static const struct mmu_row rows[] = {
		{ MMU_ROW(counts_grow),
		  { { READ_2, 0, 0x000, -1 } },
		  "strand 0: the word at 0x0 was 0, then 18446744073709551615" },
		{ MMU_ROW(counts_grow), { { PASSED, 1, 0x1d0, -5 } }, "strand 1: the word at 0x1d0 was 0, then" },
		{ MMU_ROW(counts_grow), { { END_1, 1, 0x1d8, -1 } }, "strand 1: the word at 0x1d8 was 4, then 3" },
		{ MMU_ROW(counts_grow), { { END_2, 0, 0x1f8, -1 } }, "strand 0: the word at 0x1f8 was 0, then" },
		{ MMU_ROW(counts_grow), { { READ_2, 0, 0x008, 7 }, { END_1, 0, 0x008, 7 } }, NULL },
		/* a word wraps */
		{ MMU_ROW(counts_grow), { { READ_1, 0, 0x000, -2 } }, "strand 0: the word at 0x0 was 0" },
		{ MMU_ROW(reserved_words_stay),
		  { { PASSED, 1, 0x020, 2 } },
		  "strand 1: the reserved word at 0x20 is 2" },
		{ MMU_ROW(reserved_words_stay),
		  { { READ_2, 0, 0x1f8, 1 } },
		  "strand 0: the reserved word at 0x1f8 is 1" },
		{ MMU_ROW(reserved_words_stay),
		  { { END_2, 0, 0x0a8, 1 } },
		  "strand 0: the reserved word at 0xa8 is 1" },
		{ MMU_ROW(reserved_words_stay), { { END_2, 0, 0x098, 1 }, { END_2, 0, 0x110, 1 } }, NULL },
	};
	static const struct mmu_row moving[] = {
		{ MMU_ROW(counts_grow), { { READ_2, 0, 0x000, 1 } }, NULL },
		{ MMU_ROW(counts_grow), { { END_1, 1, 0x1d8, 1 } }, NULL },
		{ MMU_ROW(reserved_words_stay), { { END_1, 0, 0x000, 1 } }, NULL },
		{ MMU_ROW(reserved_words_stay), { { READ_2, 0, 0x000, 1 } }, NULL },
		{ MMU_ROW(hits_take_ticks), { { END_1, 0, 0x000, 1 }, { END_1, 0, 0x008, 1 } }, NULL },
		{ MMU_ROW(hits_take_ticks), { { PASSED, 0, 0x000, 1 } }, NULL }, /* its ticks are still to come */
		{ MMU_ROW(ticks_within_time), { { READ_1, 0, 0x008, 1 } }, NULL },
		{ MMU_ROW(ticks_within_time), { { END_2, 0, 0x1d8, 1 } }, NULL },
		{ MMU_ROW(hits_are_misses), { { READ_2, 0, ITLB_MISS, 1 } }, NULL },
		{ MMU_ROW(hits_are_misses), { { END_1, 1, DTLB_MISS, 1 } }, NULL },
		{ MMU_ROW(hits_and_misses_are_all), { { END_1, 1, DTLB_MISS, 1 } }, NULL },
	};

	(void)state;
	check_mmu_rows(rows, COUNT(rows), true);
	check_mmu_rows(moving, COUNT(moving), false);
}

static void a_hit_takes_ticks_and_no_more_than_there_were(void **state)
{
	static const struct mmu_row rows[] = {
		{ MMU_ROW(hits_take_ticks),
		  { { PASSED, 1, 0x1d8, -1 } },
		  NULL }, /* of one hit they are still to come */
		{ MMU_ROW(hits_take_ticks),
		  { { PASSED, 1, 0x1d8, -2 } },
		  "strand 1, slot at 0x1d0: 4 hits took 2 ticks" },
		{ MMU_ROW(hits_take_ticks), { { PASSED, 1, 0x1d8, -2 }, { END_1, 1, 0x1d8, 1 } }, NULL },
		{ MMU_ROW(hits_take_ticks), { { PASSED, 1, 0x1d8, -2 }, { READ_1, 1, 0x1d8, 1 } }, NULL },
		{ MMU_ROW(hits_take_ticks),
		  { { PASSED, 1, 0x1d0, 2 } },
		  "strand 1, slot at 0x1d0: 6 hits took 4 ticks" },
		{ MMU_ROW(hits_take_ticks), { { END_1, 1, 0x1d0, 9 } }, NULL },
		{ MMU_ROW(hits_take_ticks),
		  { { PASSED, 0, 0x158, 1 } },
		  "strand 0, slot at 0x150: 0 hits took 1 ticks" },
		{ MMU_ROW(hits_take_ticks), { { PASSED, 0, 0x0d8, 1 }, { READ_2, 0, 0x0d0, 1 } }, NULL },
		{ MMU_ROW(hits_take_ticks), { { END_2, 0, 0x098, 1 } }, NULL },
		{ MMU_ROW(ticks_within_time), { { PASSED, 0, 0x038, 911 } }, NULL },
		{ MMU_ROW(ticks_within_time),
		  { { PASSED, 0, 0x038, 511 }, { PASSED, 0, 0x198, 401 } },
		  "strand 0 spent 1002 ticks of 1001" },
		{ MMU_ROW(ticks_within_time), { { PASSED, 1, 0x088, 998 } }, "strand 1 spent 1002 ticks of 1001" },
		{ MMU_ROW(ticks_within_time), { { END_1, 1, 0x088, 998 } }, NULL },
	};

	(void)state;
	check_mmu_rows(rows, COUNT(rows), true);
}

static void hits_are_among_the_misses_of_their_side(void **state)
{
	static const struct mmu_row rows[] = {
		{ MMU_ROW(hits_are_misses),
		  { { PASSED, 0, ITLB_MISS, -1 } },
		  "strand 0: 2 instruction misses of the TLB, 3 of them hit a TSB" },
		{ MMU_ROW(hits_are_misses),
		  { { PASSED, 1, 0x110, 1 } },
		  "strand 1: 4 data misses of the TLB, 5 of them hit a TSB" },
		{ MMU_ROW(hits_are_misses), { { PASSED, 1, 0x110, 1 }, { READ_2, 1, DTLB_MISS, 1 } }, NULL },
		{ MMU_ROW(hits_are_misses), { { PASSED, 1, 0x110, 1 }, { END_1, 1, DTLB_MISS, 1 } }, NULL },
		{ MMU_ROW(hits_are_misses), { { END_2, 1, 0x110, 1 } }, NULL },
		{ MMU_ROW(hits_are_misses), { { PASSED, 1, DTLB_MISS, 100 } }, NULL },
		{ MMU_ROW(hits_and_misses_are_all),
		  { { PASSED, 1, DTLB_MISS, 2 }, { PASSED, 0, UNANSWERED, 1 } },
		  "9 misses of TLBs; hits of TSBs and 1 without one are 8" },
		{ MMU_ROW(hits_and_misses_are_all),
		  { { PASSED, 1, DTLB_MISS, 2 }, { PASSED, 0, UNANSWERED, 2 } },
		  NULL },
		{ MMU_ROW(hits_and_misses_are_all),
		  { { PASSED, 0, UNANSWERED, 1 } },
		  "7 misses of TLBs; hits of TSBs and 1 without one are 8" },
		{ MMU_ROW(hits_and_misses_are_all),
		  { { PASSED, 0, UNANSWERED, 1 }, { END_1, 0, ITLB_MISS, 1 } },
		  NULL },
		{ MMU_ROW(hits_and_misses_are_all), { { PASSED, 0, ITLB_MISS, 1 }, { READ_1, 0, 0x190, 1 } }, NULL },
		/* what no TSB answered before is none of it */
		{ MMU_ROW(hits_and_misses_are_all), { { READ_2, 0, UNANSWERED, 5 } }, NULL },
	};

	(void)state;
	check_mmu_rows(rows, COUNT(rows), true);
}

/* A machine that keeps them itself, since long ago: what was there before is none of it. */
static void statistics_of_before_are_none_of_it(void **state)
{
	struct sun4v_watch *watch;

	(void)state;
	niagara_open(NULL);
	w.ops.mmustat = world_mmustat;
	for (uint32_t i = 0; i < sizeof(w.kept); i++)
		w.kept[i / MMUSTAT_BYTES][i % MMUSTAT_BYTES] = (uint8_t)(i * 37 % 251);
	watch = world_watch(&w, SUN4V_MMUSTAT, 1000000000);
	assert_int_equal(w.reads, 2 * 5); /* each strand once to see whether it is there, and four times */
	for (uint32_t name = 0; name < MMUSTAT_INVARIANT_COUNT; name++)
		assert_verdict(__LINE__, watch, SUN4V_MMUSTAT, name, SUN4V_HOLDS, NULL);
	sun4v_watch_close(watch);
	world_close(&w);

	niagara_open(NULL);
	w.ops.mmustat = world_mmustat;
	memset(w.kept, 0x11, sizeof(w.kept));
	w.moved[0] = (struct moved){ READ_2, 0, 0x020, 1 };
	w.moved[1] = (struct moved){ PASSED, 1, 0x1d8, -2 };
	watch = world_watch(&w, SUN4V_MMUSTAT, 1000000000);
	assert_verdict(__LINE__, watch, SUN4V_MMUSTAT, MMUSTAT_INVARIANT_reserved_words_stay, SUN4V_BROKEN,
		       "strand 0: the reserved word at 0x20 is 1229782938247303442");
	assert_verdict(__LINE__, watch, SUN4V_MMUSTAT, MMUSTAT_INVARIANT_hits_take_ticks, SUN4V_BROKEN,
		       "strand 1, slot at 0x1d0: 4 hits took 2 ticks");
	sun4v_watch_close(watch);
	world_close(&w);
}

/* A strand that can't be read at first has no part in it; one that can't be read later ends the watch. */
static void statistics_that_cannot_be_read_end_the_watch(void **state)
{
	const struct sun4v_watch_opts o = { .of = SUN4V_MMUSTAT, .pass = world_pass, .now = world_now, .arg = &w };

	(void)state;
	for (uint32_t at = 1; at <= 11; at++) {
		struct sun4v_watch *watch = NULL;
		struct err e = { 0 };
		int rc;

		niagara_open(NULL);
		w.ops.mmustat = world_mmustat;
		w.read_fails_at = at;
		w.fails = TALLY_EIO;
		rc = sun4v_watch_open(&watch, w.c, &o, &e);
		assert_int_equal(rc, at <= 2 || at > 10 ? 0 : -TALLY_EIO);
		if (at <= 2) {
			assert_verdict(__LINE__, watch, SUN4V_MMUSTAT, MMUSTAT_INVARIANT_hits_and_misses_are_all,
				       SUN4V_UNKNOWN, "some strands are another guest's");
			assert_verdict(__LINE__, watch, SUN4V_MMUSTAT, MMUSTAT_INVARIANT_hits_are_misses, SUN4V_HOLDS,
				       NULL);
			assert_int_equal(w.reads, 2 + 4);
		}
		if (at == 1) { /* the one behind it is looked at */
			sun4v_watch_close(watch);
			watch = NULL;
			w.reads = w.moment = 0;
			w.moved[0] = (struct moved){ PASSED, 1, 0x088, 998 };
			assert_int_equal(sun4v_watch_open(&watch, w.c, &o, &e), 0);
			assert_verdict(__LINE__, watch, SUN4V_MMUSTAT, MMUSTAT_INVARIANT_ticks_within_time,
				       SUN4V_BROKEN, "strand 1 spent 1002 ticks of 1001");
		}
		if (rc < 0)
			assert_string_equal(e.text, at & 1 ? "strand 0 says no" : "strand 1 says no");
		sun4v_watch_close(watch);
		world_close(&w);
	}
	for (uint32_t at = 1;; at++) { /* and so of the counters of misses, each of which is read five times */
		struct sun4v_watch *watch = NULL;
		struct err e = { 0 };
		uint32_t readings;
		int rc;

		niagara_open(NULL);
		w.fails_at = at;
		w.fails = TALLY_EIO;
		rc = sun4v_watch_open(&watch, w.c, &o, &e);
		readings = w.readings;
		sun4v_watch_close(watch);
		assert_null(w.c->open);
		world_close(&w);
		if (readings < at) {
			assert_int_equal(rc, 0);
			assert_int_equal(at, 4 * 5 + 1);
			break;
		}
		assert_int_equal(rc, -TALLY_EIO);
		assert_null(watch);
	}
}

static void what_nothing_tells_makes_them_unknown(void **state)
{
	struct sun4v_watch *watch;

	(void)state;
	niagara_open(NULL);
	w.transport.tick_hz = HV_TICK_UNKNOWN;
	w.ops.tsb_missed = NULL;
	w.extra[0] = (struct extra){ .strand = 0, .event = ITLB_MISS, .when = REFUSED };
	watch = world_watch(&w, SUN4V_MMUSTAT, 1000);
	assert_verdict(__LINE__, watch, SUN4V_MMUSTAT, MMUSTAT_INVARIANT_ticks_within_time, SUN4V_UNKNOWN,
		       "nothing tells how fast %tick is");
	assert_verdict(__LINE__, watch, SUN4V_MMUSTAT, MMUSTAT_INVARIANT_hits_and_misses_are_all, SUN4V_UNKNOWN,
		       "nothing tells how many misses no TSB answered");
	assert_verdict(__LINE__, watch, SUN4V_MMUSTAT, MMUSTAT_INVARIANT_hits_are_misses, SUN4V_HOLDS, NULL);
	sun4v_watch_close(watch);
	world_close(&w);

	niagara_open(NULL); /* what one side lacks is not held against the other */
	w.extra[0] = (struct extra){ .strand = 0, .event = ITLB_MISS, .when = REFUSED };
	w.moved[0] = (struct moved){ PASSED, 0, 0x110, 1 };
	watch = world_watch(&w, SUN4V_MMUSTAT, 1000);
	assert_verdict(__LINE__, watch, SUN4V_MMUSTAT, MMUSTAT_INVARIANT_hits_are_misses, SUN4V_BROKEN,
		       "strand 0: 0 data misses of the TLB, 1 of them hit a TSB");
	sun4v_watch_close(watch);
	world_close(&w);

	niagara_open(NULL);
	w.extra[0] = (struct extra){ .strand = 1, .event = DTLB_MISS, .when = REFUSED };
	watch = world_watch(&w, SUN4V_MMUSTAT, 1000);
	assert_verdict(__LINE__, watch, SUN4V_MMUSTAT, MMUSTAT_INVARIANT_hits_and_misses_are_all, SUN4V_UNKNOWN,
		       "strand 1 does not count that");
	sun4v_watch_close(watch);
	world_close(&w);

	niagara_open(NULL); /* a machine that lets nobody read its counters */
	w.ops.asr = NULL;
	watch = world_watch(&w, SUN4V_MMUSTAT, 1000);
	assert_verdict(__LINE__, watch, SUN4V_MMUSTAT, MMUSTAT_INVARIANT_hits_are_misses, SUN4V_UNKNOWN,
		       "nothing tells how many TLB misses there were");
	assert_verdict(__LINE__, watch, SUN4V_MMUSTAT, MMUSTAT_INVARIANT_hits_and_misses_are_all, SUN4V_UNKNOWN,
		       "nothing tells how many TLB misses there were");
	sun4v_watch_close(watch);
	world_close(&w);

	niagara_open(NULL);
	w.own = 1; /* strand 1 is another guest's: it breaks nothing here */
	w.moved[0] = (struct moved){ PASSED, 1, 0x020, 1 };
	w.moved[1] = (struct moved){ PASSED, 1, 0x1d0, 9 };
	w.moved[2] = (struct moved){ PASSED, 1, 0x188, 9000 };
	watch = world_watch(&w, SUN4V_MMUSTAT, 1000000000);
	for (uint32_t name = 0; name < MMUSTAT_INVARIANT_hits_and_misses_are_all; name++)
		assert_verdict(__LINE__, watch, SUN4V_MMUSTAT, name, SUN4V_HOLDS, NULL);
	assert_verdict(__LINE__, watch, SUN4V_MMUSTAT, MMUSTAT_INVARIANT_hits_and_misses_are_all, SUN4V_UNKNOWN,
		       "some strands are another guest's");
	sun4v_watch_close(watch);
	world_close(&w);
}

static void a_model_has_ticks_of_its_own_speed(void **state)
{
	static const struct moved most = { PASSED, 0, 0x008, 1200000001 - 90 };

	(void)state;
	for (int32_t more = 0; more < 2; more++) {
		struct sun4v_watch *watch;

		niagara_open(NULL);
		w.transport.tick_hz = 0;
		w.moved[0] = most;
		w.moved[0].more += more;
		watch = world_watch(&w, SUN4V_MMUSTAT, 1000000000);
		assert_verdict(__LINE__, watch, SUN4V_MMUSTAT, MMUSTAT_INVARIANT_ticks_within_time,
			       more ? SUN4V_BROKEN : SUN4V_HOLDS,
			       more ? "strand 0 spent 1200000002 ticks of 1200000001" : NULL);
		sun4v_watch_close(watch);
		world_close(&w);
	}
}

/* One reading, of what was collected since it was zero. */
static void assert_saved(int line, const uint8_t *buffer, uint32_t name, enum sun4v_verdict verdict, const char *words)
{
	struct sun4v_watch *watch = NULL;

	assert_int_equal(sun4v_watch_saved(&watch, buffer), 0);
	assert_verdict(line, watch, SUN4V_MMUSTAT, name, verdict, words);
	sun4v_watch_close(watch);
}

static void a_saved_buffer_is_judged_by_itself(void **state)
{
	uint8_t buffer[MMUSTAT_BYTES] = { 0 };
	struct sun4v_watch *watch = NULL;

	(void)state;
	assert_saved(__LINE__, buffer, MMUSTAT_INVARIANT_counts_grow, SUN4V_UNKNOWN, "there is one reading");
	assert_saved(__LINE__, buffer, MMUSTAT_INVARIANT_reserved_words_stay, SUN4V_HOLDS, NULL);
	assert_saved(__LINE__, buffer, MMUSTAT_INVARIANT_hits_take_ticks, SUN4V_UNKNOWN,
		     "no TSB answered a miss meanwhile");
	assert_saved(__LINE__, buffer, MMUSTAT_INVARIANT_ticks_within_time, SUN4V_UNKNOWN,
		     "nothing tells how long it was collected");
	assert_saved(__LINE__, buffer, MMUSTAT_INVARIANT_hits_are_misses, SUN4V_UNKNOWN,
		     "nothing tells how many TLB misses there were");
	assert_saved(__LINE__, buffer, MMUSTAT_INVARIANT_hits_and_misses_are_all, SUN4V_UNKNOWN,
		     "nothing tells how many misses no TSB answered");
	buffer[0x30 + 7] = 2;
	buffer[0x38 + 7] = 2;
	assert_saved(__LINE__, buffer, MMUSTAT_INVARIANT_hits_take_ticks, SUN4V_HOLDS, NULL);
	buffer[0x38 + 7] = 1; /* nothing is still to come */
	assert_saved(__LINE__, buffer, MMUSTAT_INVARIANT_hits_take_ticks, SUN4V_BROKEN,
		     "strand 0, slot at 0x30: 2 hits took 1 ticks");
	buffer[0x1f0 + 6] = 1;
	assert_saved(__LINE__, buffer, MMUSTAT_INVARIANT_reserved_words_stay, SUN4V_BROKEN,
		     "strand 0: the reserved word at 0x1f0 is 256");
	for (long n = 1, live = mem_live(); n <= 2; n++) {
		mem_fail_at(n);
		assert_int_equal(sun4v_watch_saved(&watch, buffer), -TALLY_ENOMEM);
		assert_int_equal(mem_live(), live);
		assert_null(watch);
	}
	mem_fail_at(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statistics_that_keep_to_them_break_none),
		cmocka_unit_test(where_no_tsb_answered_nothing_is_known),
		cmocka_unit_test(words_of_statistics_grow_where_they_may),
		cmocka_unit_test(a_hit_takes_ticks_and_no_more_than_there_were),
		cmocka_unit_test(hits_are_among_the_misses_of_their_side),
		cmocka_unit_test(statistics_of_before_are_none_of_it),
		cmocka_unit_test(statistics_that_cannot_be_read_end_the_watch),
		cmocka_unit_test(what_nothing_tells_makes_them_unknown),
		cmocka_unit_test(a_model_has_ticks_of_its_own_speed),
		cmocka_unit_test(a_saved_buffer_is_judged_by_itself),
	};

	return cmocka_run_group_tests_name("hv: invariants of MMU statistics", tests, NULL, NULL);
}
