/* lock_wait_test.c: waits for locks that are written down, struck out, and lost. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "kernel/handmade_int.h"

enum { MAP_CTL, MAP_DROPS, MAP_WAITS, THREADS = 8, ROUNDS_MOST = 20000 };

static void image_make(struct handmade *h, uint32_t waits)
{
	hm_init(h);
	hm_map(h, IMG_ARRAY, IMG_CTL, 4, sizeof(struct img_ctl), 1);
	hm_map(h, IMG_PERCPU_ARRAY, IMG_DROPS, 4, sizeof(struct img_drops), 2);
	if (waits)
		hm_map(h, IMG_HASH, IMG_WAITS, sizeof(struct img_wait_key), sizeof(struct img_wait), waits);
	HM_PROG(h, IMG_TEST, HM_RETURN);
}

static int note_contention(void *arg, const struct k_tracepoint *p)
{
	*(bool *)arg |= !strcmp(p->name, "contention_begin");
	return 0;
}

static bool kernel_tells_of_waits(void)
{
	struct k_types *types = NULL;
	bool tells = false;

	if (k_types_open(&types) == 0)
		k_tracepoints(types, note_contention, &tells);
	k_types_close(types);
	return tells;
}

static uint64_t waits_lost(struct k_run *k)
{
	struct img_drops *one = mem_alloc(k->ncpus * sizeof(*one));
	const uint32_t row = k->nprogs;
	uint64_t n = 0;

	assert_non_null(one);
	assert_int_equal(k_maps(k).ops->lookup(k_maps(k).maps, MAP_DROPS, &row, one), 0);
	for (uint32_t cpu = 0; cpu < k->ncpus; cpu++)
		n += one[cpu].waits;
	mem_free(one);
	return n;
}

static void *map_pages(void *arg)
{
	const uint32_t *rounds = arg;

	for (uint32_t i = 0; i < *rounds; i++) {
		char *p =
			mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

		if (p != MAP_FAILED)
			munmap(p, 1 << 16);
	}
	return NULL;
}

/* All at once, so that more than one waits at a time. */
static void threads_contend(uint32_t rounds)
{
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, map_pages, &rounds), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

static void a_wait_for_which_there_is_no_room_is_counted(void **state)
{
	struct handmade h;
	struct k_run *k = NULL;
	struct err e = { 0 };

	(void)state;
	HM_NEED_RIGHTS();
	if (!kernel_tells_of_waits())
		skip();
	image_make(&h, 1);
	assert_int_equal(k_open(&k, &h.img, NULL, &e), 0);
	assert_int_equal(lock_waits_enable(k, &e), 0);
	for (uint32_t rounds = 100; rounds < ROUNDS_MOST && !waits_lost(k); rounds *= 2)
		threads_contend(rounds);
	assert_true(waits_lost(k) > 0);
	lock_waits_disable(k);
	assert_true(k->lock_wait[0].fd < 0 && k->lock_wait[1].fd < 0);
	assert_int_equal(lock_waits_enable(k, &e), 0); /* again, with the programs that are there */
	assert_true(k->lock_wait[0].fd >= 0 && k->lock_wait[1].fd >= 0);
	k_close(k);
}

static void nobody_watches_where_no_program_asks(void **state)
{
	struct handmade h;
	struct k_run *k = NULL;
	struct err e = { 0 };

	(void)state;
	HM_NEED_RIGHTS();
	image_make(&h, 0);
	assert_int_equal(k_open(&k, &h.img, NULL, &e), 0);
	assert_int_equal(lock_waits_enable(k, &e), 0);
	assert_true(k->lock_wait[0].prog < 0 && k->lock_wait[1].prog < 0);
	assert_int_equal(k_waits_missed(k), 0);
	k_close(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_for_which_there_is_no_room_is_counted),
		cmocka_unit_test(nobody_watches_where_no_program_asks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
