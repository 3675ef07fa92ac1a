/* walk_test.c: a map is handed over as it is, in pieces of a file, while programs may run. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/handmade_int.h"

#define KEYS 20000u

struct walked {
	struct k_run *k;
	uint32_t key_size, times[KEYS], n, added;
	bool adds; /* a key for each that is met */
	int fails_at;
};

static struct k_run *run_open_handmade(struct handmade *h)
{
	struct err e = { 0 };
	struct k_run *k = NULL;

	HM_PROG(h, IMG_TEST, HM_RETURN);
	if (k_open(&k, &h->img, NULL, &e) < 0)
		fail_msg("%s", e.text);
	return k;
}

/* Key i, with other bytes behind its number. */
static void key_of(uint32_t i, uint8_t *key, uint32_t size)
{
	memset(key, (int)i, size);
	memcpy(key, &i, 4);
}

static void map_fill(struct k_run *k, uint32_t key_size, uint32_t from, uint32_t n)
{
	const struct maps m = k_maps(k);
	uint64_t *value = mem_alloc(m.ncpus * 16);
	uint8_t key[256];

	for (uint32_t i = from; i < from + n; i++) {
		key_of(i, key, key_size);
		for (uint32_t cpu = 0; cpu < m.ncpus; cpu++) {
			value[2 * cpu] = i;
			value[2 * cpu + 1] = cpu;
		}
		assert_int_equal(m.ops->update(m.maps, 0, key, value), 0);
	}
	mem_free(value);
}

static int walked_take(void *arg, const void *key, const void *value)
{
	struct walked *w = arg;
	const uint64_t *v = value;
	uint8_t expected[256];
	uint32_t i;

	memcpy(&i, key, 4);
	key_of(i, expected, w->key_size);
	assert_memory_equal(key, expected, w->key_size);
	assert_true(i < KEYS);
	for (uint32_t cpu = 0; cpu < k_maps(w->k).ncpus; cpu++) {
		assert_int_equal(v[2 * cpu], i);
		assert_int_equal(v[2 * cpu + 1], cpu);
	}
	w->times[i]++;
	if (w->adds && w->added < KEYS / 2)
		map_fill(w->k, w->key_size, KEYS / 2 + w->added++, 1);
	return ++w->n == (uint32_t)w->fails_at ? -TALLY_ECORRUPT : 0;
}

static void each_key_once(uint32_t key_size, bool adds)
{
	struct handmade h;
	struct walked *w = mem_alloc(sizeof(*w));
	struct err e = { 0 };

	HM_NEED_RIGHTS();
	hm_init(&h);
	hm_map(&h, IMG_PERCPU_HASH, IMG_AGG, key_size, 16, 2 * KEYS);
	*w = (struct walked){ .k = run_open_handmade(&h), .key_size = key_size, .adds = adds };
	map_fill(w->k, key_size, 0, adds ? KEYS / 2 : KEYS);
	assert_int_equal(k_maps(w->k).ops->walk(w->k, 0, walked_take, w), -TALLY_ENOTSUP); /* nothing can be lost yet */
	assert_int_equal(w->n, 0);
	assert_int_equal(k_enable(w->k, &e), 0);
	assert_int_equal(k_maps(w->k).ops->walk(w->k, 0, walked_take, w), 0);
	for (uint32_t i = 0; i < (adds ? KEYS / 2 : KEYS); i++)
		if (adds ? !w->times[i] : w->times[i] != 1)
			fail_msg("key %u was met %u times", i, w->times[i]);
	k_close(w->k);
	mem_free(w);
}

static void small_keys(void **state)
{
	(void)state;
	each_key_once(4, false);
}

static void keys_that_fit_no_piece(void **state)
{
	(void)state;
	each_key_once(229, false);
}

static void keys_that_come_meanwhile(void **state)
{
	(void)state;
	each_key_once(24, true);
}

static void arrays_and_errors(void **state)
{
	struct handmade h;
	struct walked *w = mem_alloc(sizeof(*w));
	struct err e = { 0 };
	struct maps m;

	(void)state;
	HM_NEED_RIGHTS();
	hm_init(&h);
	hm_map(&h, IMG_PERCPU_ARRAY, IMG_DROPS, 4, 16, 1000);
	hm_map(&h, IMG_PERCPU_HASH, IMG_AGG, 20000, 8, 10);
	*w = (struct walked){ .k = run_open_handmade(&h), .key_size = 4 };
	m = k_maps(w->k);
	map_fill(w->k, 4, 0, 1000);
	assert_int_equal(k_enable(w->k, &e), 0);
	assert_int_equal(m.ops->walk(m.maps, 0, walked_take, w), 0);
	assert_int_equal(w->n, 1000);
	w->fails_at = 1000 + 7;
	assert_int_equal(m.ops->walk(m.maps, 0, walked_take, w), -TALLY_ECORRUPT);
	assert_int_equal(w->n, 1007);
	assert_int_equal(m.ops->walk(m.maps, 1, walked_take, w), -TALLY_ENOTSUP); /* its keys are too long */
	assert_int_equal(m.ops->walk(m.maps, 2, walked_take, w), -TALLY_EINVAL);
	k_disable(w->k);
	assert_int_equal(m.ops->walk(m.maps, 0, walked_take, w), -TALLY_ENOTSUP);
	k_close(w->k);
	mem_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_keys),
		cmocka_unit_test(keys_that_fit_no_piece),
		cmocka_unit_test(keys_that_come_meanwhile),
		cmocka_unit_test(arrays_and_errors),
	};

	return cmocka_run_group_tests_name("walk", tests, NULL, NULL);
}
