/*
 * snapshot_test.c: clear and trunc while programs keep counting.
 *
 * A map of two CPUs in memory stands in for the kernel's; it "fires" whenever
 * it is looked at, so that every gap between reading, clearing and taking out
 * is filled with firings.  None may be lost, and none shown twice.
 */
#include "session/session_int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define CPUS 2
#define KEYS 8

struct fake {
	struct engine base;
	struct {
		bool used;
		uint64_t v[CPUS][AGG_WORDS];
	} e[KEYS];
	uint32_t words;
	uint64_t fired; /* firings so far: each adds 1, and `fired`, and its square */
	bool still;     /* nothing fires */
	int refused;    /* what each look-up answers instead */
};

static void fire(struct fake *f, uint64_t key)
{
	uint64_t *v = f->e[key].v[f->fired % CPUS], x = ++f->fired;
	uint64_t square = x << 40; /* large, so that low words carry */

	f->e[key].used = true;
	v[0] += 1;
	v[1] += x;
	v[3] += square > UINT64_MAX - v[2];
	v[2] += square;
}

static void go_on(struct fake *f)
{
	for (int i = 0; !f->still && i < 3; i++)
		fire(f, f->fired * 7 % KEYS);
}

static int fake_lookup(void *maps, uint32_t map, const void *key, void *value)
{
	struct fake *f = maps;
	uint64_t k = *(const uint64_t *)key;

	(void)map;
	go_on(f);
	if (f->refused < 0)
		return f->refused;
	if (!f->e[k].used)
		return -TALLY_EEND;
	for (int cpu = 0; cpu < CPUS; cpu++)
		memcpy((uint64_t *)value + cpu * f->words, f->e[k].v[cpu], f->words * 8);
	go_on(f);
	return 0;
}

static int fake_update(void *maps, uint32_t map, const void *key, const void *value)
{
	struct fake *f = maps;

	(void)map;
	for (int cpu = 0; cpu < CPUS; cpu++)
		memcpy(f->e[*(const uint64_t *)key].v[cpu], (const uint64_t *)value + cpu * f->words, f->words * 8);
	return 0;
}

static int fake_take(void *maps, uint32_t map, const void *key, void *value)
{
	struct fake *f = maps;
	uint64_t k = *(const uint64_t *)key;
	int rc = fake_lookup(maps, map, key, value);
	bool still = f->still;

	if (rc < 0)
		return rc;
	f->still = true; /* look-up and removal are one step */
	for (int cpu = 0; cpu < CPUS; cpu++)
		memcpy((uint64_t *)value + cpu * f->words, f->e[k].v[cpu], f->words * 8);
	memset(&f->e[k], 0, sizeof(f->e[k]));
	f->still = still;
	go_on(f);
	return 0;
}

static int fake_next(void *maps, uint32_t map, const void *key, void *next)
{
	struct fake *f = maps;

	(void)map;
	for (uint64_t k = key ? *(const uint64_t *)key + 1 : 0; k < KEYS; k++)
		if (f->e[k].used) {
			memcpy(next, &k, 8);
			return 0;
		}
	return -TALLY_EEND;
}

static const struct map_ops fake_map_ops = { fake_lookup, fake_update, NULL, fake_take, fake_next, NULL, NULL };

static struct maps fake_maps(struct engine *g)
{
	return (struct maps){ .maps = g, .ops = &fake_map_ops, .ncpus = CPUS };
}

static const struct engine_ops fake_ops = { .maps = fake_maps };

struct fixture {
	struct fake fake;
	struct tally_trace t;
	struct d_agg def;
	struct img_map map;
	struct agg_state s;
};

static void set_up(struct fixture *x, uint8_t fn, uint32_t words, uint8_t type)
{
	*x = (struct fixture){ .fake = { .base.ops = &fake_ops, .words = words },
			       .def = { .name = "", .fn = fn, .key_size = 8 },
			       .map = { .type = type, .key_size = 8, .value_size = words * 8, .max_entries = KEYS } };
	x->t.eng = &x->fake.base;
	x->s = (struct agg_state){ .def = &x->def, .map = &x->map, .nmaps = 1, .words = words, .normal = 1 };
}

static void add_shown(const struct agg_state *s, uint64_t *sum)
{
	for (uint32_t i = 0; i < s->snap->n; i++)
		if (!s->snap->cell[i].gone)
			agg_add(s->def->fn, sum, s->snap->cell[i].shown, false);
}

/* What was fired, as one value. */
static void expect_total(const struct fixture *x, const uint64_t *sum)
{
	unsigned __int128 squares = 0;
	uint64_t n = x->fake.fired;

	assert_int_equal(sum[0], n);
	if (x->fake.words > 1)
		assert_int_equal(sum[1], n * (n + 1) / 2);
	if (x->fake.words < 4)
		return;
	for (uint64_t i = 1; i <= n; i++)
		squares += i << 40;
	assert_int_equal(sum[2], (uint64_t)squares);
	assert_int_equal(sum[3], (uint64_t)(squares >> 64));
}

static void finish(struct fixture *x, uint64_t *sum)
{
	x->fake.still = true;
	assert_int_equal(snapshot_take(&x->t, &x->s), 0);
	add_shown(&x->s, sum);
	snapshot_drop(&x->s);
	baseline_free(&x->s);
	expect_total(x, sum);
}

static void printing_and_clearing_adds_up(uint8_t fn, uint32_t words, uint8_t type)
{
	uint64_t sum[AGG_WORDS] = { 0 };
	struct fixture x;

	set_up(&x, fn, words, type);
	for (int round = 0; round < 200; round++) {
		go_on(&x.fake);
		assert_int_equal(snapshot_take(&x.t, &x.s), 0);
		add_shown(&x.s, sum);
		go_on(&x.fake);
		assert_int_equal(snapshot_clear(&x.t, &x.s), 0);
		go_on(&x.fake);
		snapshot_drop(&x.s);
	}
	finish(&x, sum);
}

static void cleared_sums_add_up_to_the_total(void **state)
{
	(void)state;
	printing_and_clearing_adds_up(AGG_COUNT, 1, IMG_PERCPU_HASH);
	printing_and_clearing_adds_up(AGG_AVG, 2, IMG_PERCPU_HASH);
	printing_and_clearing_adds_up(AGG_STDDEV, 4, IMG_PERCPU_HASH);
	printing_and_clearing_adds_up(AGG_QUANTIZE, 1, IMG_PERCPU_HASH);
}

/* Rounds of printa, trunc and, now and then, clear. Keys that go are those with an even number. */
static void printing_and_truncating_adds_up(uint8_t fn, uint32_t words, uint8_t type)
{
	static const bool even[] = { true, false };
	uint64_t sum[AGG_WORDS] = { 0 };
	struct fixture x;

	set_up(&x, fn, words, type);
	for (int round = 0; round < 200; round++) {
		go_on(&x.fake);
		assert_int_equal(snapshot_take(&x.t, &x.s), 0);
		for (uint32_t i = 0; i < x.s.snap->n; i++) {
			struct cell *c = &x.s.snap->cell[i];

			c->row = (*(const uint64_t *)c->key + round) & 1;
			if (!c->gone && even[c->row]) /* printed, as it goes now */
				agg_add(fn, sum, c->shown, false);
		}
		go_on(&x.fake);
		assert_int_equal(snapshot_trunc(&x.t, &x.s, even), 0);
		if (round % 5 == 0) {
			add_shown(&x.s, sum);
			assert_int_equal(snapshot_clear(&x.t, &x.s), 0);
		}
		snapshot_drop(&x.s);
	}
	finish(&x, sum);
}

static void truncated_sums_add_up_to_the_total(void **state)
{
	(void)state;
	printing_and_truncating_adds_up(AGG_COUNT, 1, IMG_PERCPU_HASH);
	printing_and_truncating_adds_up(AGG_SUM, 1, IMG_PERCPU_ARRAY); /* keys can't be taken out */
	printing_and_truncating_adds_up(AGG_STDDEV, 4, IMG_PERCPU_HASH);
}

static void cleared_keys_stay_and_truncated_keys_go(void **state)
{
	static const bool all[] = { true };
	struct fixture x;

	(void)state;
	set_up(&x, AGG_COUNT, 1, IMG_PERCPU_HASH);
	x.fake.still = true;
	fire(&x.fake, 3);
	assert_int_equal(snapshot_take(&x.t, &x.s), 0);
	assert_int_equal(x.s.snap->cell[0].shown[0], 1);
	assert_int_equal(snapshot_clear(&x.t, &x.s), 0);
	assert_int_equal(x.s.snap->cell[0].shown[0], 0); /* at once, for a printa() behind it */
	snapshot_drop(&x.s);
	assert_int_equal(snapshot_take(&x.t, &x.s), 0);
	assert_int_equal(x.s.snap->n, 1);
	assert_int_equal(x.s.snap->cell[0].shown[0], 0);
	assert_false(x.s.snap->cell[0].gone);
	assert_int_equal(snapshot_trunc(&x.t, &x.s, all), 0);
	snapshot_drop(&x.s);
	assert_int_equal(snapshot_take(&x.t, &x.s), 0);
	assert_int_equal(x.s.snap->n, 0);
	assert_int_equal(x.s.nbaselines, 0);
	snapshot_drop(&x.s);
	baseline_free(&x.s);
}

/* Takes out the keys below `end`, as of now. */
static int trunc_below(struct fixture *x, uint64_t end)
{
	static const bool first[] = { true, false };
	int rc;

	snapshot_drop(&x->s);
	rc = snapshot_take(&x->t, &x->s);
	for (uint32_t i = 0; rc >= 0 && i < x->s.snap->n; i++)
		x->s.snap->cell[i].row = *(const uint64_t *)x->s.snap->cell[i].key >= end;
	return rc < 0 ? rc : snapshot_trunc(&x->t, &x->s, first);
}

#define EPOCHS(x, a, b, c) epochs_are(x, __LINE__, (const uint64_t[]){ a, b, c })
static void epochs_are(const struct fixture *x, int line, const uint64_t *want)
{
	for (uint64_t k = 0; k < 3; k++)
		if (snapshot_epoch(&x->s, &k) != want[k])
			fail_msg("line %d: key %llu is of epoch %llu", line, (unsigned long long)k,
				 (unsigned long long)snapshot_epoch(&x->s, &k));
}

/* Of keys that can be taken out of the map, and of those that stay there. */
static void a_key_that_was_set_back_is_of_a_later_epoch(void **state)
{
	static const uint8_t type[] = { IMG_PERCPU_HASH, IMG_PERCPU_ARRAY };

	(void)state;
	for (size_t i = 0; i < COUNT(type); i++) {
		struct fixture x;

		set_up(&x, AGG_COUNT, 1, type[i]);
		x.fake.still = true;
		for (uint64_t k = 0; k < 3; k++)
			fire(&x.fake, k);
		EPOCHS(&x, 0, 0, 0);
		assert_int_equal(trunc_below(&x, 0), 0); /* nothing goes */
		EPOCHS(&x, 0, 0, 0);
		assert_int_equal(trunc_below(&x, 1), 0);
		EPOCHS(&x, 1, 0, 0);
		fire(&x.fake, 0);
		assert_int_equal(trunc_below(&x, 0), 0);
		EPOCHS(&x, 1, 0, 0);
		assert_int_equal(trunc_below(&x, 2), 0);
		EPOCHS(&x, 2, 2, 0);
		fire(&x.fake, 1);
		fire(&x.fake, 1);
		EPOCHS(&x, 2, 2, 0);
		assert_int_equal(trunc_below(&x, 1), 0); /* key 0 is not there */
		EPOCHS(&x, 2, 2, 0);
		assert_int_equal(snapshot_clear(&x.t, &x.s), 0);
		EPOCHS(&x, 3, 3, 3);
		assert_int_equal(trunc_below(&x, 2), 0);
		EPOCHS(&x, 4, 4, 3);
		assert_true(x.s.kept.n <= 1);
		assert_int_equal(trunc_below(&x, KEYS), 0);
		EPOCHS(&x, 5, 5, 5);
		assert_int_equal(x.s.kept.n, 0);
		snapshot_drop(&x.s);
		baseline_free(&x.s);
	}
}

/* Of keys that can be taken out of the map, and of those that stay there. */
static void a_truncated_key_is_not_brought_back_by_clear(void **state)
{
	static const struct {
		uint8_t fn, type;
		uint32_t words;
	} rows[] = { { AGG_COUNT, IMG_PERCPU_HASH, 1 },
		     { AGG_COUNT, IMG_PERCPU_ARRAY, 1 },
		     { AGG_MAX, IMG_PERCPU_HASH, 2 },
		     { AGG_MAX, IMG_PERCPU_ARRAY, 2 } };
	static const bool first[] = { true, false };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fixture x;
		uint32_t shown = 0;

		set_up(&x, rows[i].fn, rows[i].words, rows[i].type);
		x.fake.still = true;
		for (uint64_t k = 3; k <= 4; k++) {
			x.fake.e[k].used = true;
			memcpy(x.fake.e[k].v[0], (uint64_t[]){ 5, 1 }, rows[i].words * 8);
		}
		assert_int_equal(snapshot_take(&x.t, &x.s), 0);
		assert_int_equal(x.s.snap->n, 2);
		for (uint32_t n = 0; n < 2; n++)
			x.s.snap->cell[n].row = *(const uint64_t *)x.s.snap->cell[n].key != 3;
		assert_int_equal(snapshot_trunc(&x.t, &x.s, first), 0);
		assert_int_equal(snapshot_clear(&x.t, &x.s), 0);
		snapshot_drop(&x.s);
		assert_int_equal(snapshot_take(&x.t, &x.s), 0);
		for (uint32_t n = 0; n < x.s.snap->n; n++)
			if (!x.s.snap->cell[n].gone) {
				assert_int_equal(*(const uint64_t *)x.s.snap->cell[n].key, 4);
				assert_int_equal(x.s.snap->cell[n].shown[0], 0);
				shown++;
			}
		assert_int_equal(shown, 1);
		snapshot_drop(&x.s);
		baseline_free(&x.s);
	}
}

static void extremes_merge_what_was_set(void **state)
{
	uint64_t least[AGG_WORDS] = { 0 }, most[AGG_WORDS] = { 0 };
	const uint64_t unset[AGG_WORDS] = { 0 }, minus[AGG_WORDS] = { -5ull, 1 }, plus[AGG_WORDS] = { 7, 1 };

	(void)state;
	agg_add(AGG_MIN, least, plus, false);
	agg_add(AGG_MIN, least, unset, false);
	assert_int_equal((int64_t)least[0], 7);
	agg_add(AGG_MIN, least, minus, false);
	assert_int_equal((int64_t)least[0], -5);
	agg_add(AGG_MAX, most, minus, false);
	agg_add(AGG_MAX, most, unset, false);
	assert_int_equal((int64_t)most[0], -5);
	agg_add(AGG_MAX, most, plus, false);
	assert_int_equal((int64_t)most[0], 7);
}

static void a_cleared_minimum_starts_again(void **state)
{
	struct fixture x;

	(void)state;
	set_up(&x, AGG_MIN, 2, IMG_PERCPU_HASH);
	x.fake.still = true;
	x.fake.e[1].used = true;
	memcpy(x.fake.e[1].v[0], (uint64_t[]){ 3, 1 }, 16);
	assert_int_equal(snapshot_clear(&x.t, &x.s), 0);
	snapshot_drop(&x.s);
	memcpy(x.fake.e[1].v[1], (uint64_t[]){ 9, 1 }, 16);
	assert_int_equal(snapshot_take(&x.t, &x.s), 0);
	assert_int_equal(x.s.snap->cell[0].shown[0], 9);
	snapshot_drop(&x.s);
	baseline_free(&x.s);
}

static void forgotten_keys_take_no_memory(void **state)
{
	static const bool all[] = { true };
	struct fixture x;

	(void)state;
	set_up(&x, AGG_COUNT, 1, IMG_PERCPU_HASH);
	x.fake.still = true;
	for (uint64_t k = 0; k < 5000; k++) {
		/* as if each key had come, been cleared, and gone: the map never has it again */
		void **slot = map_at(&x.s.baseline, &(uint64_t){ k + KEYS }, 8);

		assert_non_null(slot);
		assert_null(*slot);
	}
	fire(&x.fake, 0);
	assert_int_equal(snapshot_take(&x.t, &x.s), 0);
	assert_int_equal(snapshot_trunc(&x.t, &x.s, all), 0);
	assert_int_equal(x.s.baseline.n, 0);
	snapshot_drop(&x.s);
	baseline_free(&x.s);
}

static void fire_another(struct fixture *x)
{
	fire(&x->fake, 2);
}

static int take_and_clear(struct fixture *x)
{
	int rc = snapshot_take(&x->t, &x->s);

	return rc < 0 ? rc : snapshot_clear(&x->t, &x->s);
}

static int take_and_trunc(struct fixture *x)
{
	static const bool all[] = { true };
	int rc = snapshot_take(&x->t, &x->s);

	return rc < 0 ? rc : snapshot_trunc(&x->t, &x->s, all);
}

static int trunc_and_keep(struct fixture *x)
{
	const uint64_t before = x->s.epoch;
	const int rc = trunc_below(x, 2);

	assert_true(x->s.epoch == before + (rc >= 0));
	return rc;
}

/* Clears key 1, which then is no longer in the map. */
static void clear_and_lose_key(struct fixture *x)
{
	assert_int_equal(snapshot_clear(&x->t, &x->s), 0);
	snapshot_drop(&x->s);
	x->fake.e[1].used = false;
}

static int take_cleared_key(struct fixture *x)
{
	int rc = snapshot_take(&x->t, &x->s);

	if (rc >= 0)
		assert_int_equal(x->s.snap->n, 1);
	return rc;
}

/* Each allocation of `step` fails once, after key 1 was fired and `before` was done. */
static void step_without_memory(uint8_t type, void (*before)(struct fixture *x), int (*step)(struct fixture *x))
{
	for (long n = 1;; n++) {
		const long live = mem_live();
		struct fixture x;
		bool failed;
		int rc;

		set_up(&x, AGG_COUNT, 1, type);
		x.fake.still = true;
		fire(&x.fake, 1);
		before(&x);
		mem_fail_at(n);
		rc = step(&x);
		failed = mem_failed();
		mem_fail_at(0);
		snapshot_drop(&x.s);
		baseline_free(&x.s);
		assert_int_equal(rc, failed ? -TALLY_ENOMEM : 0);
		assert_int_equal(mem_live(), live);
		if (!failed)
			return;
	}
}

static void a_clear_that_finds_no_memory_says_so(void **state)
{
	(void)state;
	step_without_memory(IMG_PERCPU_HASH, fire_another, take_and_clear);
	step_without_memory(IMG_PERCPU_ARRAY, fire_another, take_and_trunc); /* keys can't be taken out */
	step_without_memory(IMG_PERCPU_HASH, fire_another, trunc_and_keep);
}

/* A key that was cleared and is no longer in the map is shown, or there is no answer. */
static void a_cleared_key_that_finds_no_memory_is_not_left_out(void **state)
{
	(void)state;
	step_without_memory(IMG_PERCPU_HASH, clear_and_lose_key, take_cleared_key);
}

/* ---- a key in two maps ------------------------------------------------------------ */

struct two {
	struct fake map[2];
};

static struct fake *map_of(void *maps, uint32_t map)
{
	assert_true(map < 2);
	return &((struct two *)maps)->map[map];
}

static int two_lookup(void *maps, uint32_t map, const void *key, void *value)
{
	return fake_lookup(map_of(maps, map), map, key, value);
}

static int two_update(void *maps, uint32_t map, const void *key, const void *value)
{
	return fake_update(map_of(maps, map), map, key, value);
}

static int two_remove(void *maps, uint32_t map, const void *key)
{
	struct fake *f = map_of(maps, map);
	const uint64_t k = *(const uint64_t *)key;
	const int rc = f->e[k].used ? 0 : -TALLY_EEND;

	memset(&f->e[k], 0, sizeof(f->e[k]));
	return rc;
}

static int two_take(void *maps, uint32_t map, const void *key, void *value)
{
	return fake_take(map_of(maps, map), map, key, value);
}

static int two_next(void *maps, uint32_t map, const void *key, void *next)
{
	return fake_next(map_of(maps, map), map, key, next);
}

static const struct map_ops two_map_ops = { two_lookup, two_update, two_remove, two_take, two_next, NULL, NULL };

static struct maps two_maps(struct engine *g)
{
	return (struct maps){ .maps = g, .ops = &two_map_ops, .ncpus = CPUS };
}

static const struct engine_ops two_ops = { .maps = two_maps };

/* Key 1 is in both maps, key 2 in the first, key 3 in the second. */
static void set_up_two(struct fixture *x, struct two *two, uint8_t fn, uint32_t words)
{
	static const uint64_t had[2][4] = { { 0, 5, 6, 0 }, { 0, 9, 0, 7 } };

	set_up(x, fn, words, IMG_PERCPU_HASH);
	*two = (struct two){ 0 };
	for (uint32_t m = 0; m < 2; m++) {
		two->map[m].base.ops = &two_ops;
		two->map[m].words = words;
		two->map[m].still = true;
		for (uint32_t k = 1; k < 4; k++)
			if (had[m][k]) {
				two->map[m].e[k].used = true;
				memcpy(two->map[m].e[k].v[m], (uint64_t[]){ had[m][k], 1 }, words * 8);
			}
	}
	x->t.eng = &two->map[0].base;
	x->s.nmaps = 2;
	x->s.imap[0] = 0;
	x->s.imap[1] = 1;
}

/* What is shown of each key that is; all others are gone. */
static void expect_shown(struct fixture *x, uint64_t one, uint64_t two, uint64_t three)
{
	const uint64_t want[] = { 0, one, two, three };

	assert_int_equal(snapshot_take(&x->t, &x->s), 0);
	assert_int_equal(x->s.snap->n, 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct cell *c = &x->s.snap->cell[i];

		assert_false(c->gone);
		assert_int_equal(c->shown[0], want[*(const uint64_t *)c->key]);
	}
}

static void a_key_in_two_maps_is_one_row_and_goes_from_both(void **state)
{
	static const bool all[] = { true };
	struct fixture x;
	struct two two;

	(void)state;
	set_up_two(&x, &two, AGG_COUNT, 1);
	expect_shown(&x, 14, 6, 7);
	assert_int_equal(snapshot_clear(&x.t, &x.s), 0);
	snapshot_drop(&x.s);
	two.map[1].e[1].v[0][0] += 2;
	expect_shown(&x, 2, 0, 0);
	assert_int_equal(snapshot_trunc(&x.t, &x.s, all), 0);
	snapshot_drop(&x.s);
	for (uint32_t k = 0; k < KEYS; k++)
		assert_false(two.map[0].e[k].used || two.map[1].e[k].used);
	assert_int_equal(snapshot_take(&x.t, &x.s), 0);
	assert_int_equal(x.s.snap->n, 0);
	snapshot_drop(&x.s);
	baseline_free(&x.s);
}

/* A maximum that was cleared is in the first map, unset, and no longer in the second one. */
static void a_maximum_in_two_maps_starts_again_in_both(void **state)
{
	struct fixture x;
	struct two two;

	(void)state;
	set_up_two(&x, &two, AGG_MAX, 2);
	expect_shown(&x, 9, 6, 7);
	assert_int_equal(snapshot_clear(&x.t, &x.s), 0);
	snapshot_drop(&x.s);
	assert_true(two.map[0].e[1].used && two.map[0].e[2].used);
	for (uint32_t k = 1; k < 4; k++)
		assert_false(two.map[1].e[k].used);
	two.map[0].e[1].v[0][0] = 3;
	two.map[0].e[1].v[0][1] = 1;
	expect_shown(&x, 3, 0, 0);
	snapshot_drop(&x.s);
	baseline_free(&x.s);
}

/* Rows that are there and can't be read are no rows that aren't there. */
static void values_that_cannot_be_read_are_an_error_and_no_empty_answer(void **state)
{
	struct fixture x;

	(void)state;
	set_up(&x, AGG_COUNT, 1, IMG_PERCPU_HASH);
	x.fake.still = true;
	fire(&x.fake, 1);
	fire(&x.fake, 2);
	x.fake.refused = -TALLY_ENOMEM;
	assert_int_equal(snapshot_take(&x.t, &x.s), -TALLY_ENOMEM);
	x.fake.refused = -TALLY_EEND; /* they were taken out meanwhile */
	assert_int_equal(snapshot_take(&x.t, &x.s), 0);
	assert_int_equal(x.s.snap->n, 0);
	snapshot_drop(&x.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cleared_sums_add_up_to_the_total),
		cmocka_unit_test(truncated_sums_add_up_to_the_total),
		cmocka_unit_test(cleared_keys_stay_and_truncated_keys_go),
		cmocka_unit_test(a_truncated_key_is_not_brought_back_by_clear),
		cmocka_unit_test(a_key_that_was_set_back_is_of_a_later_epoch),
		cmocka_unit_test(extremes_merge_what_was_set),
		cmocka_unit_test(a_cleared_minimum_starts_again),
		cmocka_unit_test(forgotten_keys_take_no_memory),
		cmocka_unit_test(a_clear_that_finds_no_memory_says_so),
		cmocka_unit_test(a_cleared_key_that_finds_no_memory_is_not_left_out),
		cmocka_unit_test(a_key_in_two_maps_is_one_row_and_goes_from_both),
		cmocka_unit_test(a_maximum_in_two_maps_starts_again_in_both),
		cmocka_unit_test(values_that_cannot_be_read_are_an_error_and_no_empty_answer),
	};

	return cmocka_run_group_tests_name("session: snapshot", tests, NULL, NULL);
}
