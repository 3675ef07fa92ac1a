/* Tests of space.c: no files, no processes; addresses and times are small numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/symbol_int.h"

static struct file file_a, file_b;

static void map(struct spaces *s, uint32_t pid, uint64_t time, uint64_t start, uint64_t end, struct file *f)
{
	struct mapping m = {
		.start = start, .end = end, .pgoff = f ? 0x1000 : 0, .from_ns = time, .file = f, .told = true
	};

	m.until_ns = UINT64_MAX;
	assert_true(spaces_map(s, pid, &m));
}

/* Which file an address was in: 'a', 'b', '0' for memory without a file, '-' for nothing. */
static char which(const struct spaces *s, uint32_t pid, uint64_t addr, uint64_t time)
{
	const struct mapping *m;

	spaces_find(s, pid, addr, time, &m);
	return !m ? '-' : !m->file ? '0' : m->file == &file_a ? 'a' : 'b';
}

/* The same of a generation; '!' when it can't be known, '?' when it was known. */
static char meant(const struct spaces *s, uint32_t pid, uint64_t addr, uint64_t generation)
{
	struct place at;
	enum seen seen = spaces_seen(s, pid, addr, generation, &at);

	if (seen != SEEN_MAPPING)
		return seen == SEEN_GONE ? '!' : seen == SEEN_FORGOTTEN ? '?' : '-';
	return !at.m->file ? '0' : at.m->file == &file_a ? 'a' : 'b';
}

/* Process 7 has file a at 100 to 200 since time 10, and file b in its place since 30. */
static void spaces_map_a_then_b(struct spaces *s)
{
	assert_true(spaces_exec(s, 7, 1));
	map(s, 7, 10, 100, 200, &file_a);
	assert_true(spaces_unmap(s, 7, 20, 0));
	map(s, 7, 30, 100, 200, &file_b);
}

static void a_mapping_holds_its_addresses_and_no_others(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	map(&s, 7, 1, 100, 200, &file_a);
	assert_int_equal(which(&s, 7, 99, 5), '-');
	assert_int_equal(which(&s, 7, 100, 5), 'a');
	assert_int_equal(which(&s, 7, 199, 0), 'a');
	assert_int_equal(which(&s, 7, 200, 5), '-');
	assert_int_equal(which(&s, 8, 100, 5), '-');
	assert_true(spaces_knows(&s, 7));
	assert_false(spaces_knows(&s, 8));
	spaces_free(&s);
}

static void an_exec_starts_a_new_space_and_the_old_one_still_answers_for_its_time(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	map(&s, 7, 10, 100, 200, &file_a);
	assert_true(spaces_exec(&s, 7, 50));
	map(&s, 7, 51, 100, 150, &file_b);
	assert_int_equal(which(&s, 7, 120, 20), 'a');
	assert_int_equal(which(&s, 7, 120, 49), 'a');
	assert_int_equal(which(&s, 7, 120, 60), 'b');
	assert_int_equal(which(&s, 7, 170, 60), '-');
	assert_int_equal(which(&s, 7, 170, 0), 'a'); /* the newest that maps it */
	assert_int_equal(which(&s, 7, 120, 0), 'b');
	spaces_free(&s);
}

static void a_pid_that_comes_back_is_another_process(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	assert_true(spaces_fork(&s, 7, 1, 10));
	map(&s, 7, 11, 100, 200, &file_a);
	spaces_exit(&s, 7);
	assert_true(spaces_fork(&s, 7, 1, 100));
	map(&s, 7, 101, 100, 200, &file_b);
	assert_int_equal(which(&s, 7, 120, 99), 'a');
	assert_int_equal(which(&s, 7, 120, 102), 'b');
	assert_int_equal(which(&s, 7, 120, 9), '-'); /* not born yet */
	spaces_free(&s);
}

static void a_fork_shares_until_either_side_maps(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	map(&s, 1, 1, 100, 200, &file_a);
	for (uint32_t pid = 2; pid < 1000; pid++)
		assert_true(spaces_fork(&s, pid, pid - 1, pid));
	assert_int_equal(s.nmappings, 1);
	map(&s, 500, 2000, 100, 200, &file_b);
	assert_int_equal(which(&s, 499, 100, 3000), 'a');
	assert_int_equal(which(&s, 500, 100, 3000), 'b');
	assert_int_equal(which(&s, 500, 100, 1999), 'a');
	assert_int_equal(which(&s, 501, 100, 3000), 'a');
	assert_int_equal(which(&s, 999, 100, 3000), 'a');
	map(&s, 1, 2000, 300, 400, &file_b);
	assert_int_equal(which(&s, 999, 300, 3000), '-');
	spaces_free(&s);
}

static void a_child_has_what_its_parent_had_and_not_what_the_parent_execs_later(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	map(&s, 1, 1, 100, 200, &file_a);
	assert_true(spaces_fork(&s, 2, 1, 10));
	assert_true(spaces_exec(&s, 1, 20));
	map(&s, 1, 21, 100, 200, &file_b);
	spaces_exit(&s, 1);
	assert_int_equal(which(&s, 2, 100, 30), 'a');
	spaces_free(&s);
}

static void a_new_mapping_cuts_what_it_covers_and_the_past_is_remembered(void **state)
{
	static const struct {
		int line;
		uint64_t addr, time;
		char file;
	} want[] = {
		{ __LINE__, 100, 20, 'a' }, { __LINE__, 139, 20, 'a' }, { __LINE__, 140, 20, 'b' },
		{ __LINE__, 159, 20, 'b' }, { __LINE__, 160, 20, 'a' }, { __LINE__, 199, 20, 'a' },
		{ __LINE__, 200, 20, '-' }, { __LINE__, 150, 5, 'a' },  { __LINE__, 150, 9, 'a' },
		{ __LINE__, 150, 10, 'b' }, { __LINE__, 150, 0, 'b' },
	};
	struct spaces s = { 0 };
	const struct mapping *m;

	(void)state;
	map(&s, 7, 1, 100, 200, &file_a);
	map(&s, 7, 10, 140, 160, &file_b);
	for (size_t i = 0; i < COUNT(want); i++)
		if (which(&s, 7, want[i].addr, want[i].time) != want[i].file)
			fail_msg("line %d", want[i].line);
	spaces_find(&s, 7, 170, 20, &m);
	assert_int_equal(170 - m->start + m->pgoff, 70 + 0x1000); /* still the same byte */
	spaces_free(&s);
}

static void a_mapping_over_many_takes_the_place_of_all(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	for (uint64_t a = 0; a < 100; a++)
		map(&s, 7, 1, 100 + a * 10, 105 + a * 10, &file_a);
	map(&s, 7, 2, 102, 1000, &file_b);
	assert_int_equal(which(&s, 7, 101, 3), 'a');
	assert_int_equal(which(&s, 7, 102, 3), 'b');
	assert_int_equal(which(&s, 7, 999, 3), 'b');
	assert_int_equal(which(&s, 7, 1001, 3), 'a');
	assert_int_equal(which(&s, 7, 991, 1), 'a');
	spaces_free(&s);
}

static void saying_the_same_again_changes_nothing(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	map(&s, 7, 1, 100, 200, &file_a);
	map(&s, 7, 9, 100, 200, &file_a);
	assert_int_equal(s.nmappings, 1);
	assert_int_equal(which(&s, 7, 150, 2), 'a');
	spaces_free(&s);
}

static void memory_without_a_file_joins_its_neighbours(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	for (uint64_t a = 0; a < 1000; a++)
		map(&s, 7, 1 + a, 4096 * a, 4096 * (a + 1), NULL);
	assert_int_equal(s.nmappings, 1);
	map(&s, 7, 2000, 4096, 8192, &file_a);
	assert_int_equal(which(&s, 7, 4095, 3000), '0');
	assert_int_equal(which(&s, 7, 4096, 3000), 'a');
	assert_int_equal(which(&s, 7, 8192, 3000), '0');
	map(&s, 7, 4000, 0, 4096 * 1000, NULL);
	assert_int_equal(which(&s, 7, 4096, 5000), '0');
	assert_int_equal(which(&s, 7, 4096, 3000), 'a');
	spaces_free(&s);
}

static void a_snapshot_serves_times_before_it_was_taken(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	map(&s, 7, 1000, 100, 200, &file_a);
	assert_int_equal(which(&s, 7, 150, 5), 'a');
	spaces_free(&s);
}

static void the_longest_dead_go_first_and_are_counted(void **state)
{
	struct spaces s = { .dead_most = 10 };

	(void)state;
	for (uint32_t pid = 1; pid <= 30; pid++) {
		assert_true(spaces_fork(&s, pid, 0, pid));
		map(&s, pid, pid, 100, 200, &file_a);
	}
	assert_int_equal(s.evicted, 0);
	for (uint32_t pid = 30; pid >= 1; pid--)
		spaces_exit(&s, pid);
	assert_int_equal(s.evicted, 20);
	assert_int_equal(s.ndead, 10);
	assert_int_equal(s.nprocs, 10);
	assert_int_equal(s.nmappings, 10);
	assert_int_equal(which(&s, 30, 150, 0), '-');
	assert_int_equal(which(&s, 10, 150, 0), 'a');
	assert_int_equal(meant(&s, 30, 150, 30), '?');
	assert_int_equal(meant(&s, 31, 150, 30), '!'); /* never known */
	spaces_exit(&s, 10);                           /* twice is once */
	assert_int_equal(s.ndead, 10);
	spaces_free(&s);
}

static void a_process_that_execs_for_ever_stays_bounded(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	for (uint64_t t = 1; t <= 10000; t++) {
		assert_true(spaces_exec(&s, 7, t * 10));
		map(&s, 7, t * 10 + 1, 100, 200, &file_a);
	}
	assert_true(s.nmappings <= SPACES_PER_PROC_MOST);
	assert_int_equal(s.evicted, 10000 - SPACES_PER_PROC_MOST);
	assert_int_equal(which(&s, 7, 150, 100005), 'a');
	assert_int_equal(meant(&s, 7, 150, 11), '?');
	spaces_free(&s);
}

static void each_of_thousand_lives_of_a_process_id_keeps_its_mappings(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	for (uint64_t i = 1; i <= 1000; i++) {
		assert_true(spaces_fork(&s, 7, 1, i * 10));
		map(&s, 7, i * 10 + 1, 100, 200, i % 3 ? &file_a : &file_b);
		spaces_exit(&s, 7);
	}
	for (uint64_t i = 1; i <= 1000; i++)
		assert_int_equal(meant(&s, 7, 150, i * 10), i % 3 ? 'a' : 'b');
	assert_int_equal(s.evicted, 0);
	spaces_free(&s);
}

static void a_process_that_maps_for_ever_stays_bounded(void **state)
{
	struct spaces s = { 0 };
	struct mapping m = { .file = &file_a, .from_ns = 5 };
	uint32_t refused = 0;

	(void)state;
	for (uint64_t a = 1; a <= 2 * MAPPINGS_MOST; a++) {
		m.start = a * 100;
		m.end = m.start + 50;
		refused += !spaces_map(&s, 7, &m);
	}
	assert_true(refused > MAPPINGS_MOST - 8);
	assert_true(s.nmappings <= MAPPINGS_MOST);
	assert_int_equal(s.lost_ns, 5); /* what was refused may be meant */
	for (uint64_t t = 1; t < 3 * MAPPINGS_PAST_MOST; t++)
		map(&s, 8, t, 100, 150, t % 2 ? &file_b : &file_a);
	assert_true(s.nmappings <= MAPPINGS_MOST + MAPPINGS_PAST_MOST);
	spaces_free(&s);
}

static void unloads_of_the_living_are_forgotten_when_all_together_have_too_many(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	for (uint32_t pid = 1; pid <= 12; pid++)
		for (uint64_t t = 1; t < MAPPINGS_PAST_MOST; t++)
			map(&s, pid, t, 100, 150, t % 2 ? &file_b : &file_a);
	assert_true(s.nmappings <= SPACES_MAPPINGS_MOST + 12);
	spaces_free(&s);
}

/* ---- generations ------------------------------------------------------------------- */

/* Of 6,000 generations, each with a mapping over the one before it. */
static void plugins_that_came_and_went_thousands_of_times_keep_their_mappings(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	assert_true(spaces_exec(&s, 7, 1));
	map(&s, 7, 2, 300, 400, &file_a);
	for (uint64_t i = 1; i <= 6000; i++) {
		map(&s, 7, i * 10, 100, 200, i % 3 ? &file_a : &file_b);
		assert_true(spaces_unmap(&s, 7, i * 10 + 5, 0));
	}
	for (uint64_t i = 1; i < 6000; i++) {
		assert_int_equal(meant(&s, 7, 150, i * 10 + 5), (i + 1) % 3 ? 'a' : 'b');
		assert_int_equal(meant(&s, 7, 350, i * 10 + 5), 'a');
	}
	spaces_free(&s);
}

static void processes_that_share_memory_have_what_each_of_them_maps(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	assert_true(spaces_exec(&s, 1, 1));
	map(&s, 1, 10, 100, 200, &file_a);
	assert_true(spaces_fork(&s, 2, 1, 20));
	assert_true(spaces_share(&s, 2, 1));
	assert_true(spaces_unmap(&s, 2, 30, 0));
	map(&s, 2, 31, 100, 200, &file_b);
	assert_int_equal(meant(&s, 1, 150, 20), 'a');
	assert_int_equal(meant(&s, 1, 150, 30), 'b');
	assert_int_equal(meant(&s, 2, 150, 30), 'b');
	assert_true(spaces_exec(&s, 2, 40)); /* from now on it has its own */
	map(&s, 2, 41, 100, 200, &file_a);
	spaces_exit(&s, 2);
	assert_int_equal(meant(&s, 1, 150, 30), 'b');
	assert_true(spaces_fork(&s, 3, 1, 50));
	assert_true(spaces_share(&s, 3, 1));
	assert_true(spaces_exec(&s, 1, 60)); /* the parent leaves it to the child */
	assert_int_equal(meant(&s, 3, 150, 60), 'b');
	assert_int_equal(meant(&s, 1, 150, 60), '-');
	spaces_free(&s);
}

static void what_shares_memory_with_a_process_that_nobody_knew_is_no_guess(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	assert_true(spaces_fork(&s, 2, 1, 20));
	assert_true(spaces_share(&s, 2, 1));
	assert_true(spaces_unmap(&s, 2, 30, 0));
	map(&s, 2, 31, 100, 200, &file_b);
	spaces_looked(&s, 1, 40);
	assert_int_equal(meant(&s, 1, 150, 10), '!');
	assert_int_equal(meant(&s, 1, 150, 30), 'b');
	assert_false(spaces_share(&s, 9, 1)); /* no such child */
	spaces_free(&s);
}

static void a_child_is_as_unsure_of_what_it_inherited_as_its_parent_was(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	assert_true(spaces_exec(&s, 1, 1));
	map(&s, 1, 10, 100, 200, &file_a);
	assert_true(spaces_unmap(&s, 1, 20, 0)); /* of 100 to 200, perhaps */
	assert_true(spaces_fork(&s, 2, 1, 30));
	assert_int_equal(meant(&s, 2, 150, 30), 'a');
	s.lost_ns = 25;
	assert_int_equal(meant(&s, 1, 150, 20), '!');
	assert_int_equal(meant(&s, 2, 150, 30), '!');
	map(&s, 2, 40, 300, 400, &file_b);
	assert_int_equal(meant(&s, 2, 350, 30), 'b');
	spaces_free(&s);
}

static void what_was_called_before_a_plugin_took_the_place_is_the_one_before(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	spaces_map_a_then_b(&s);
	assert_true(spaces_unmap(&s, 7, 40, 0));
	map(&s, 7, 50, 100, 200, &file_a);
	assert_int_equal(meant(&s, 7, 150, 2), 'a');
	assert_int_equal(meant(&s, 7, 150, 20), 'b');
	assert_int_equal(meant(&s, 7, 150, 40), 'a');
	assert_int_equal(meant(&s, 7, 250, 40), '-');
	spaces_free(&s);
}

static void a_mapping_that_stays_is_found_in_each_generation(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	assert_true(spaces_exec(&s, 7, 1));
	map(&s, 7, 2, 100, 200, &file_a);
	for (uint64_t t = 10; t < 1000; t += 10) {
		map(&s, 7, t, 300, 400, t % 20 ? &file_b : &file_a);
		assert_true(spaces_unmap(&s, 7, t + 5, 0));
	}
	for (uint64_t t = 15; t < 980; t += 10) {
		assert_int_equal(meant(&s, 7, 150, t), 'a');
		assert_int_equal(meant(&s, 7, 350, t), (t + 5) % 20 ? 'b' : 'a');
	}
	spaces_free(&s);
}

static void a_mapping_over_another_ends_the_generation_with_its_own_beginning(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	assert_true(spaces_exec(&s, 7, 1));
	map(&s, 7, 10, 100, 200, &file_a);
	map(&s, 7, 20, 100, 200, &file_b);
	assert_int_equal(meant(&s, 7, 150, 2), '!'); /* nobody said that it took the place */
	assert_true(spaces_unmap(&s, 7, 21, 19));
	assert_int_equal(meant(&s, 7, 150, 2), 'a');
	assert_int_equal(meant(&s, 7, 150, 21), 'b');
	spaces_free(&s);
}

static void a_mapping_that_failed_to_come_ends_nothing_earlier(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	spaces_map_a_then_b(&s);
	assert_true(spaces_unmap(&s, 7, 41, 40)); /* nothing came since 40 */
	assert_int_equal(meant(&s, 7, 150, 20), 'b');
	assert_int_equal(meant(&s, 7, 150, 41), 'b');
	spaces_free(&s);
}

static void a_place_that_a_process_left_before_anybody_looked_is_not_guessed(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	assert_true(spaces_unmap(&s, 7, 100, 0));
	map(&s, 7, 200, 100, 200, &file_b); /* what a look finds */
	spaces_looked(&s, 7, 200);
	assert_int_equal(meant(&s, 7, 150, 50), '!'); /* may have been another's then */
	assert_int_equal(meant(&s, 7, 150, 100), 'b');
	assert_int_equal(meant(&s, 7, 250, 50), '!');
	assert_int_equal(meant(&s, 7, 250, 100), '-');
	assert_int_equal(meant(&s, 8, 150, 100), '!'); /* never seen */
	spaces_free(&s);
}

static void a_child_knows_its_parents_generations_and_has_its_own(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	assert_true(spaces_exec(&s, 1, 1));
	map(&s, 1, 10, 100, 200, &file_a);
	assert_true(spaces_fork(&s, 2, 1, 20));
	assert_true(spaces_unmap(&s, 2, 30, 0));
	map(&s, 2, 31, 100, 200, &file_b);
	assert_int_equal(meant(&s, 2, 150, 20), 'a');
	assert_int_equal(meant(&s, 2, 150, 30), 'b');
	assert_int_equal(meant(&s, 1, 150, 2), 'a');
	assert_int_equal(meant(&s, 2, 150, 5), '!'); /* not born */
	spaces_free(&s);
}

static void facts_that_got_lost_make_doubt_only_where_they_could_matter(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	assert_true(spaces_exec(&s, 7, 1));
	map(&s, 7, 10, 100, 200, &file_a);
	s.lost_ns = 15;
	assert_int_equal(meant(&s, 7, 150, 2), 'a'); /* nothing went since */
	assert_true(spaces_unmap(&s, 7, 20, 0));
	assert_int_equal(meant(&s, 7, 150, 20), 'a');
	s.lost_ns = 25;
	assert_int_equal(meant(&s, 7, 150, 20), '!'); /* it may have gone, and another come */
	assert_int_equal(meant(&s, 7, 150, 2), 'a');
	spaces_free(&s);
}

static void facts_that_got_lost_make_no_doubt_from_when_the_place_was_mapped_again(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	spaces_map_a_then_b(&s);
	s.lost_ns = 29;
	assert_int_equal(meant(&s, 7, 150, 20), '!');
	s.lost_ns = 30;
	assert_int_equal(meant(&s, 7, 150, 20), 'b');
	spaces_free(&s);
}

static void move(struct spaces *s, uint64_t time, uint64_t at, uint64_t len, uint64_t to, uint64_t to_len)
{
	assert_true(spaces_move(s, 7, &(struct moving){ at, len, to, to_len, false }, time));
}

static void space_copy(struct spaces *s, uint64_t time, uint64_t at, uint64_t len, uint64_t to, uint64_t to_len)
{
	assert_true(spaces_move(s, 7, &(struct moving){ at, len, to, to_len, true }, time));
}

static void code_that_is_at_two_places_after_a_move_has_its_name_at_both(void **state)
{
	struct spaces s = { 0 };
	struct place at;

	(void)state;
	assert_true(spaces_exec(&s, 7, 1));
	map(&s, 7, 10, 100, 200, &file_a);
	map(&s, 7, 11, 1000, 1100, &file_b);
	assert_true(spaces_unmap(&s, 7, 15, 0)); /* of 1000 */
	space_copy(&s, 20, 100, 100, 1000, 100);
	assert_true(spaces_unmap(&s, 7, 21, 19));
	assert_int_equal(meant(&s, 7, 1050, 21), 'a');
	assert_int_equal(meant(&s, 7, 150, 21), 'a');
	space_copy(&s, 30, 140, 0, 2000, 30); /* of old length 0: what is there */
	assert_int_equal(spaces_seen(&s, 7, 2029, 21, &at), SEEN_MAPPING);
	assert_int_equal(at.m->start - at.m->pgoff, 2000 - 0x1000 - 40);
	assert_int_equal(meant(&s, 7, 2030, 21), '-');
	assert_int_equal(meant(&s, 7, 199, 21), 'a');
	space_copy(&s, 40, 100, 100, 0, 100); /* nobody knows where */
	assert_int_equal(meant(&s, 7, 5000, 21), '!');
	spaces_free(&s);
}

static void code_that_grows_as_it_moves_has_its_name_to_its_end(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	assert_true(spaces_exec(&s, 7, 1));
	map(&s, 7, 10, 100, 200, &file_a);
	move(&s, 20, 100, 100, 1000, 300);
	assert_int_equal(meant(&s, 7, 1299, 2), 'a');
	assert_int_equal(meant(&s, 7, 1300, 2), '-');
	spaces_free(&s);
}

static void code_that_moved_is_at_its_new_place_and_no_longer_at_its_old_one(void **state)
{
	struct spaces s = { 0 };
	struct place at;

	(void)state;
	assert_true(spaces_exec(&s, 7, 1));
	map(&s, 7, 10, 100, 200, &file_a);
	move(&s, 20, 120, 50, 1020, 40);
	assert_int_equal(meant(&s, 7, 1019, 2), '-');
	assert_int_equal(meant(&s, 7, 1020, 2), 'a');
	assert_int_equal(meant(&s, 7, 1059, 2), 'a');
	assert_int_equal(meant(&s, 7, 1060, 2), '-'); /* it shrank */
	assert_int_equal(spaces_seen(&s, 7, 1020, 2, &at), SEEN_MAPPING);
	assert_int_equal(at.m->start - at.m->pgoff, 1020 - 0x1000 - 20); /* the same bytes of the file */
	assert_int_equal(at.since_ns, 20);
	assert_int_equal(meant(&s, 7, 119, 2), 'a'); /* what did not move */
	assert_int_equal(meant(&s, 7, 170, 2), 'a');
	assert_int_equal(meant(&s, 7, 150, 2), 'a'); /* before it moved */
	assert_true(spaces_unmap(&s, 7, 30, 30));
	assert_int_equal(meant(&s, 7, 150, 30), '-');
	assert_int_equal(meant(&s, 7, 1030, 30), 'a');
	move(&s, 40, 5000, 100, 6000, 100); /* nothing that is known */
	spaces_free(&s);
}

static void code_that_comes_to_where_other_code_moved_away_is_not_guessed(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	assert_true(spaces_exec(&s, 7, 1));
	map(&s, 7, 10, 100, 200, &file_a);
	assert_true(spaces_unmap(&s, 7, 15, 15));
	move(&s, 20, 100, 100, 1000, 100);
	map(&s, 7, 30, 100, 200, &file_b); /* no generation began */
	assert_int_equal(meant(&s, 7, 150, 15), '!');
	assert_int_equal(meant(&s, 7, 1050, 15), 'a');
	assert_true(spaces_unmap(&s, 7, 40, 40));
	assert_int_equal(meant(&s, 7, 150, 40), 'b');
	spaces_free(&s);
}

static void after_a_move_to_nobody_knows_where_only_what_is_found_again_is_certain(void **state)
{
	struct mapping found = { .start = 300, .end = 400, .pgoff = 0x1000, .from_ns = 50, .file = &file_a };
	struct spaces s = { 0 };

	(void)state;
	found.until_ns = UINT64_MAX;
	found.looked_ns = 50;
	assert_true(spaces_exec(&s, 7, 1));
	map(&s, 7, 10, 100, 200, &file_b);
	map(&s, 7, 11, 300, 400, &file_a);
	map(&s, 7, 12, 500, 600, &file_b);
	assert_true(spaces_unmap(&s, 7, 20, 20)); /* of 500: its place is free */
	assert_int_equal(meant(&s, 7, 350, 20), 'a');
	move(&s, 30, 100, 100, 0, 200);
	assert_int_equal(meant(&s, 7, 550, 20), '!'); /* b was there; what moved may be now */
	assert_int_equal(meant(&s, 7, 350, 20), '!');
	assert_int_equal(meant(&s, 7, 750, 20), '!'); /* nothing was: what moved may be */
	assert_true(spaces_unmap(&s, 7, 40, 40));
	map(&s, 7, 45, 700, 800, &file_b);
	assert_int_equal(meant(&s, 7, 750, 40), 'b'); /* came since */
	assert_true(spaces_map(&s, 7, &found));
	spaces_looked(&s, 7, 50);
	assert_int_equal(meant(&s, 7, 350, 20), 'a');
	assert_int_equal(meant(&s, 7, 350, 40), 'a');
	assert_int_equal(meant(&s, 7, 550, 40), '!');
	spaces_free(&s);
}

static void a_library_that_is_loaded_again_to_its_place_was_there_from_then_on(void **state)
{
	struct spaces s = { 0 };
	struct place at;

	(void)state;
	assert_true(spaces_exec(&s, 7, 1));
	map(&s, 7, 10, 100, 200, &file_a);
	assert_true(spaces_unmap(&s, 7, 20, 20));
	map(&s, 7, 30, 100, 200, &file_a); /* its file may hold something else by now */
	assert_int_equal(spaces_seen(&s, 7, 150, 20, &at), SEEN_MAPPING);
	assert_int_equal(at.since_ns, 30);
	assert_int_equal(spaces_seen(&s, 7, 150, 2, &at), SEEN_MAPPING);
	assert_int_equal(at.since_ns, 10);
	assert_int_equal(at.until_ns, 20);
	spaces_free(&s);
}

static void what_a_child_is_told_again_says_nothing_of_its_parent(void **state)
{
	struct spaces s = { 0 };
	struct place at;

	(void)state;
	assert_true(spaces_exec(&s, 7, 1));
	map(&s, 7, 10, 100, 200, &file_a);
	assert_true(spaces_unmap(&s, 7, 20, 20));
	assert_true(spaces_fork(&s, 2, 7, 30));
	assert_true(spaces_unmap(&s, 2, 40, 40));
	map(&s, 2, 50, 100, 200, &file_a); /* the child's, whose file may hold something else by now */
	assert_int_equal(spaces_seen(&s, 7, 150, 20, &at), SEEN_MAPPING);
	assert_int_equal(at.since_ns, 20);
	assert_int_equal(spaces_seen(&s, 2, 150, 40, &at), SEEN_MAPPING);
	assert_int_equal(at.since_ns, 50);
	spaces_free(&s);
}

static void what_is_found_again_in_a_child_is_not_found_in_its_parent(void **state)
{
	struct mapping found = { .start = 300, .end = 400, .pgoff = 0x1000, .from_ns = 50, .file = &file_a };
	struct spaces s = { 0 };

	(void)state;
	found.until_ns = UINT64_MAX;
	found.looked_ns = 50;
	assert_true(spaces_exec(&s, 7, 1));
	map(&s, 7, 10, 100, 200, &file_b);
	map(&s, 7, 11, 300, 400, &file_a);
	assert_true(spaces_unmap(&s, 7, 20, 20));
	move(&s, 30, 100, 100, 0, 200); /* nobody knows where to */
	assert_true(spaces_fork(&s, 2, 7, 40));
	assert_int_equal(meant(&s, 7, 350, 20), '!');
	assert_true(spaces_map(&s, 2, &found));
	spaces_looked(&s, 2, 50);
	assert_int_equal(meant(&s, 2, 350, 40), 'a');
	assert_int_equal(meant(&s, 7, 350, 20), '!');
	spaces_free(&s);
}

static void generations_without_end_stay_bounded(void **state)
{
	struct spaces s = { 0 };

	(void)state;
	assert_true(spaces_exec(&s, 7, 1));
	map(&s, 7, 2, 300, 400, &file_a);
	for (uint64_t t = 10; t < 10 * 3 * LOSSES_MOST; t += 10) {
		map(&s, 7, t, 100, 200, t % 20 ? &file_a : &file_b);
		assert_true(spaces_unmap(&s, 7, t + 5, 0));
	}
	assert_int_equal(meant(&s, 7, 350, 15), 'a');
	assert_int_not_equal(meant(&s, 7, 150, 15),
			     'b'); /* the truth, 'b', is forgotten: a wrong answer would be 'a' */
	assert_int_equal(meant(&s, 7, 150, 15), '?');
	spaces_free(&s);
}

static uint64_t next_random(uint64_t *x)
{
	*x = *x * 6364136223846793005u + 1442695040888963407u;
	return *x >> 33;
}

/* An array of pages for each time says which file each page was of; the list must agree, also about
 * the past. */
static void any_sequence_of_mappings_agrees_with_an_array_of_pages(void **state)
{
	struct file *const files[] = { &file_a, &file_b, NULL };
	static char page[61][64];
	uint64_t seed = 42;

	(void)state;
	for (int round = 0; round < 30; round++) {
		struct spaces s = { 0 };

		memset(page[0], '-', sizeof(page[0]));
		for (uint64_t t = 1; t <= 60; t++) {
			uint64_t start = next_random(&seed) % 64, n = 1 + next_random(&seed) % 10;
			struct file *f = files[next_random(&seed) % 3];

			n = start + n > 64 ? 64 - start : n;
			memcpy(page[t], page[t - 1], sizeof(page[t]));
			memset(page[t] + start, f == &file_a ? 'a' : f ? 'b' : '0', n);
			map(&s, 7, t, 100 + start, 100 + start + n, f);
			for (uint64_t i = 0; i < 64; i++)
				assert_int_equal(which(&s, 7, 100 + i, 0), page[t][i]);
		}
		for (uint64_t t = 1; t <= 60; t++)
			for (uint64_t i = 0; i < 64; i++)
				if (page[t][i] == 'a' || page[t][i] == 'b')
					assert_int_equal(which(&s, 7, 100 + i, t), page[t][i]);
		spaces_free(&s);
	}
}

static void play(struct spaces *s)
{
	for (uint32_t pid = 1; pid < 6; pid++) {
		struct mapping m = { .start = 100, .end = 200, .from_ns = pid, .file = &file_a };

		spaces_map(s, pid, &m);
		spaces_fork(s, pid + 100, pid, 10 + pid);
		m.file = &file_b;
		m.start = 120;
		m.end = 150;
		m.from_ns = 20 + pid;
		spaces_map(s, pid + 100, &m);
		spaces_unmap(s, pid + 100, 25 + pid, 0);
		spaces_fork(s, pid + 200, pid + 100, 26 + pid);
		spaces_unmap(s, pid + 200, 27 + pid, 1);
		spaces_move(s, pid + 200, &(struct moving){ 110, 30, pid % 2 ? 900 : 0, 20, pid % 3 == 0 }, 28 + pid);
		spaces_fork(s, pid + 300, pid + 200, 29 + pid);
		spaces_share(s, pid + 300, pid + 200);
		spaces_share(s, pid + 300, pid + 400);
		spaces_exec(s, pid + 100, 30 + pid);
		spaces_exit(s, pid);
		which(s, pid, 150, 5);
	}
}

static void every_failing_allocation_is_survived(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		long before = mem_live();
		struct spaces s = { .dead_most = 4 };

		mem_fail_at(n);
		play(&s);
		spaces_free(&s);
		assert_int_equal(mem_live(), before);
		if (!mem_failed())
			break;
	}
	mem_fail_at(0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mapping_holds_its_addresses_and_no_others),
		cmocka_unit_test(an_exec_starts_a_new_space_and_the_old_one_still_answers_for_its_time),
		cmocka_unit_test(a_pid_that_comes_back_is_another_process),
		cmocka_unit_test(a_fork_shares_until_either_side_maps),
		cmocka_unit_test(a_child_has_what_its_parent_had_and_not_what_the_parent_execs_later),
		cmocka_unit_test(a_new_mapping_cuts_what_it_covers_and_the_past_is_remembered),
		cmocka_unit_test(a_mapping_over_many_takes_the_place_of_all),
		cmocka_unit_test(saying_the_same_again_changes_nothing),
		cmocka_unit_test(memory_without_a_file_joins_its_neighbours),
		cmocka_unit_test(a_snapshot_serves_times_before_it_was_taken),
		cmocka_unit_test(the_longest_dead_go_first_and_are_counted),
		cmocka_unit_test(a_process_that_execs_for_ever_stays_bounded),
		cmocka_unit_test(each_of_thousand_lives_of_a_process_id_keeps_its_mappings),
		cmocka_unit_test(a_process_that_maps_for_ever_stays_bounded),
		cmocka_unit_test(unloads_of_the_living_are_forgotten_when_all_together_have_too_many),
		cmocka_unit_test(plugins_that_came_and_went_thousands_of_times_keep_their_mappings),
		cmocka_unit_test(processes_that_share_memory_have_what_each_of_them_maps),
		cmocka_unit_test(what_shares_memory_with_a_process_that_nobody_knew_is_no_guess),
		cmocka_unit_test(a_child_is_as_unsure_of_what_it_inherited_as_its_parent_was),
		cmocka_unit_test(code_that_is_at_two_places_after_a_move_has_its_name_at_both),
		cmocka_unit_test(code_that_grows_as_it_moves_has_its_name_to_its_end),
		cmocka_unit_test(what_was_called_before_a_plugin_took_the_place_is_the_one_before),
		cmocka_unit_test(a_mapping_that_stays_is_found_in_each_generation),
		cmocka_unit_test(a_mapping_over_another_ends_the_generation_with_its_own_beginning),
		cmocka_unit_test(a_mapping_that_failed_to_come_ends_nothing_earlier),
		cmocka_unit_test(a_place_that_a_process_left_before_anybody_looked_is_not_guessed),
		cmocka_unit_test(a_child_knows_its_parents_generations_and_has_its_own),
		cmocka_unit_test(facts_that_got_lost_make_doubt_only_where_they_could_matter),
		cmocka_unit_test(facts_that_got_lost_make_no_doubt_from_when_the_place_was_mapped_again),
		cmocka_unit_test(code_that_moved_is_at_its_new_place_and_no_longer_at_its_old_one),
		cmocka_unit_test(code_that_comes_to_where_other_code_moved_away_is_not_guessed),
		cmocka_unit_test(after_a_move_to_nobody_knows_where_only_what_is_found_again_is_certain),
		cmocka_unit_test(a_library_that_is_loaded_again_to_its_place_was_there_from_then_on),
		cmocka_unit_test(what_a_child_is_told_again_says_nothing_of_its_parent),
		cmocka_unit_test(what_is_found_again_in_a_child_is_not_found_in_its_parent),
		cmocka_unit_test(generations_without_end_stay_bounded),
		cmocka_unit_test(any_sequence_of_mappings_agrees_with_an_array_of_pages),
		cmocka_unit_test(every_failing_allocation_is_survived),
	};

	return cmocka_run_group_tests_name("symbol: space", tests, NULL, NULL);
}
