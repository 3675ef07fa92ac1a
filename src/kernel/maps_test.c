/* maps_test.c: how the maps of an image are made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/handmade_int.h"
#include "kernel/libbpf_int.h"

static uint32_t flags_of(const struct k_run *k, uint32_t map)
{
	struct bpf_map_info info = { 0 };
	uint32_t n = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(k->map[map].fd, &info, &n), 0);
	return info.map_flags;
}

/* A hash takes memory key by key; one whose keys come where memory can't be had has it from the start. */
static void hashes_have_their_memory_from_the_start_where_their_use_asks_for_it(void **state)
{
	static const struct {
		uint8_t type, use;
		uint32_t flags;
	} row[] = {
		{ IMG_ARRAY, IMG_CTL, BPF_F_MMAPABLE },
		{ IMG_HASH, IMG_VAR, BPF_F_NO_PREALLOC },
		{ IMG_HASH, IMG_WAITS, 0 },
		{ IMG_PERCPU_HASH, IMG_AGG, BPF_F_NO_PREALLOC },
		{ IMG_PERCPU_HASH, IMG_SPARE, 0 },
		{ IMG_PERCPU_ARRAY, IMG_AGG, 0 },
	};
	struct handmade h;
	struct err e = { 0 };
	struct k_run *k = NULL;

	(void)state;
	HM_NEED_RIGHTS();
	hm_init(&h);
	for (size_t i = 0; i < COUNT(row); i++) {
		const bool array = row[i].type == IMG_ARRAY, waits = row[i].use == IMG_WAITS;

		hm_map(&h, row[i].type, row[i].use, waits ? sizeof(struct img_wait_key) : 4,
		       array ? sizeof(struct img_ctl) :
		       waits ? sizeof(struct img_wait) :
			       8,
		       array ? 1 : 4);
	}
	HM_PROG(&h, IMG_TEST, HM_RETURN);
	if (k_open(&k, &h.img, NULL, &e) < 0)
		fail_msg("%s", e.text);
	for (uint32_t i = 0; i < COUNT(row); i++)
		assert_int_equal(flags_of(k, i), row[i].flags);
	k_close(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hashes_have_their_memory_from_the_start_where_their_use_asks_for_it),
	};

	return cmocka_run_group_tests_name("kernel: maps", tests, NULL, NULL);
}
