/*
 * types_test.c: what the kernel tells of its types, against what libbpf reads of the same file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <bpf/btf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/btf_int.h"

static struct btf *libbpf_types(void)
{
	struct btf *btf =
		access("/sys/kernel/btf/vmlinux", R_OK) == 0 ? btf__parse("/sys/kernel/btf/vmlinux", NULL) : NULL;

	if (!btf) {
		print_message("skipped: this kernel has no type information (/sys/kernel/btf/vmlinux)\n");
		skip();
	}
	return btf;
}

static void structs_have_the_sizes_and_members_that_libbpf_reads(void **state)
{
	static const char *const names[] = { "task_struct", "file", "page", "mm_struct", "list_head" };
	struct btf *btf = libbpf_types();
	struct k_types *t;

	(void)state;
	assert_int_equal(k_types_open(&t), 0);
	const struct d_ktypes *k = k_types_ops(t);
	for (size_t i = 0; i < COUNT(names); i++) {
		int32_t id = btf__find_by_name_kind(btf, names[i], BTF_KIND_STRUCT);
		const struct btf_type *b = btf__type_by_id(btf, (uint32_t)id);
		uint64_t n = k->find(k->arg, NULL, D_KT_STRUCT, names[i]);
		struct d_ktype row;
		struct d_kmember m;

		assert_int_equal(n, id);
		assert_true(k->get(k->arg, n, &row));
		assert_int_equal(row.kind, D_KT_STRUCT);
		assert_int_equal(row.size, b->size);
		for (uint32_t j = 0; j < btf_vlen(b); j++) {
			assert_true(k->member(k->arg, n, j, &m));
			assert_string_equal(m.name, btf__name_by_offset(btf, btf_members(b)[j].name_off));
			assert_int_equal(m.bit_offset, btf_member_bit_offset(b, j));
			assert_int_equal(m.bits, btf_member_bitfield_size(b, j));
		}
		assert_false(k->member(k->arg, n, btf_vlen(b), &m));
	}
	k_types_close(t);
	btf__free(btf);
}

static void each_type_is_at_the_number_that_libbpf_gives_it(void **state)
{
	struct btf *btf = libbpf_types();
	struct k_btf b;

	(void)state;
	assert_int_equal(k_btf_open(&b, "/sys/kernel/btf/vmlinux", NULL), 0);
	assert_int_equal(k_btf_count(&b), btf__type_cnt(btf) - 1);
	for (uint32_t id = 1; id < btf__type_cnt(btf); id++) {
		const struct btf_type *a = k_btf_type(&b, id), *l = btf__type_by_id(btf, id);

		if (a->info != l->info || a->name_off != l->name_off || a->size != l->size)
			fail_msg("type %u differs", id);
	}
	assert_null(k_btf_type(&b, btf__type_cnt(btf)));
	k_btf_close(&b);
	btf__free(btf);
}

static void names_without_a_type_have_no_number(void **state)
{
	struct btf *btf = libbpf_types();
	/* void, and numbers of no type and of no file of types */
	static const uint64_t nothing[] = { 0, 0x7fffffff, 9999ull << 32, 9999ull << 32 | 1 };
	struct k_types *t;
	struct d_ktype row;
	struct d_kmember m;
	int64_t v;

	(void)state;
	btf__free(btf);
	assert_int_equal(k_types_open(&t), 0);
	const struct d_ktypes *k = k_types_ops(t);
	assert_int_equal(k->find(k->arg, NULL, D_KT_STRUCT, "no_such_struct_at_all"), 0);
	assert_int_equal(k->find(k->arg, NULL, D_KT_UNION, "task_struct"), 0);
	assert_int_equal(k->find(k->arg, "no_such_module", D_KT_STRUCT, "task_struct"), 0);
	assert_int_equal(k->find(k->arg, "../btf/vmlinux", D_KT_STRUCT, "task_struct"), 0);
	assert_int_not_equal(k->find(k->arg, "vmlinux", D_KT_TYPEDEF, "pid_t"), 0);
	assert_true(k->constant(k->arg, "PIDTYPE_TGID", &v));
	assert_int_equal(v, 1);
	assert_false(k->constant(k->arg, "NO_SUCH_ENUMERATOR_AT_ALL", &v));
	for (size_t i = 0; i < COUNT(nothing); i++) {
		assert_false(k->get(k->arg, nothing[i], &row));
		assert_int_equal(row.kind, D_KT_VOID);
		assert_false(k->member(k->arg, nothing[i], 0, &m));
	}
	k_types_close(t);
}

/* A file that says of itself what isn't so: every cut of one that is sound, and every byte of its head changed. */
static void damaged_descriptions_are_refused_or_end_early(void **state)
{
	struct {
		struct btf_header h;
		struct btf_type integer;
		uint32_t bits;
		struct btf_type record;
		struct btf_member member;
		char texts[16];
	} good = {
		.h = { .magic = BTF_MAGIC,
		       .version = 1,
		       .hdr_len = sizeof(good.h),
		       .type_len = offsetof(typeof(good), texts) - sizeof(good.h),
		       .str_off = offsetof(typeof(good), texts) - sizeof(good.h),
		       .str_len = sizeof(good.texts) },
		.integer = { .name_off = 1, .info = BTF_KIND_INT << 24, .size = 4 },
		.bits = 32,
		.record = { .name_off = 5, .info = BTF_KIND_STRUCT << 24 | 1, .size = 4 },
		.member = { .name_off = 9, .type = 1 },
		.texts = "\0int\0rec\0x",
	};
	char path[] = "/tmp/tally-btf-XXXXXX";
	int fd = mkstemp(path);
	struct k_btf b;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, &good, sizeof(good)), sizeof(good));
	assert_int_equal(k_btf_open(&b, path, NULL), 0);
	assert_int_equal(k_btf_count(&b), 2);
	assert_string_equal(k_btf_text(&b, k_btf_type(&b, 2)->name_off), "rec");
	k_btf_close(&b);
	for (size_t n = sizeof(good) - 1; n > 0; n--) {
		assert_int_equal(ftruncate(fd, (off_t)n), 0);
		assert_true(k_btf_open(&b, path, NULL) < 0);
	}
	for (size_t i = 0; i < offsetof(typeof(good), texts); i++) {
		typeof(good) bad = good;

		((uint8_t *)&bad)[i] ^= 0xff;
		assert_int_equal(pwrite(fd, &bad, sizeof(bad), 0), sizeof(bad));
		if (k_btf_open(&b, path, NULL) == 0) {
			assert_true(k_btf_count(&b) <= 2);
			for (uint32_t id = 0; id < 4; id++)
				k_btf_text(&b, k_btf_type(&b, id) ? k_btf_type(&b, id)->name_off : 0);
		}
		k_btf_close(&b);
	}
	close(fd);
	unlink(path);
}

/* Scripts with user addresses had libbpf copy and check all types, which took most of their start. */
static void what_programs_need_of_types_is_found_without_libbpf_as_it_finds_it(void **state)
{
	static const struct {
		const char *name;
		uint8_t kind;
	} want[] = { { "task_struct", BTF_KIND_STRUCT },
		     { "mm_struct", BTF_KIND_STRUCT },
		     { "pt_regs", BTF_KIND_STRUCT },
		     { "btf_trace_sched_switch", BTF_KIND_TYPEDEF },
		     { "btf_trace_mmap_lock_released", BTF_KIND_TYPEDEF },
		     { "no_such_type", BTF_KIND_STRUCT } };
	struct btf *btf = libbpf_types();
	struct k_btf of[2];

	(void)state;
	assert_int_equal(k_btf_open(&of[0], "/sys/kernel/btf/vmlinux", NULL), 0);
	assert_int_equal(k_btf_search(&of[1]), 0);
	for (size_t k = 0; k < COUNT(of); k++) {
		assert_int_equal(k_btf_count(&of[k]) + 1, btf__type_cnt(btf));
		for (size_t i = 0; i < COUNT(want); i++) {
			int32_t id = btf__find_by_name_kind(btf, want[i].name, want[i].kind);
			assert_int_equal(k_btf_find_kind(&of[k], want[i].name, want[i].kind), id < 0 ? 0 : id);
		}
		k_btf_close(&of[k]);
	}
	btf__free(btf);
}

/* The rest of a hundred thousand types took a millisecond of each start. */
static void a_type_at_the_front_is_found_without_a_walk_to_the_end(void **state)
{
	struct btf *btf = libbpf_types();
	int32_t id = btf__find_by_name_kind(btf, "task_struct", BTF_KIND_STRUCT);
	struct k_btf b;

	(void)state;
	assert_int_equal(k_btf_open(&b, "/sys/kernel/btf/vmlinux", NULL), 0);
	assert_int_equal(b.numbers->n, 0);
	assert_int_equal(k_btf_find_kind(&b, "task_struct", BTF_KIND_STRUCT), id);
	assert_int_equal(b.numbers->n, id);
	assert_ptr_equal(k_btf_type(&b, (uint32_t)id), b.types + b.numbers->at[id - 1]);
	assert_int_equal(b.numbers->n, id);
	k_btf_close(&b);
	btf__free(btf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(structs_have_the_sizes_and_members_that_libbpf_reads),
		cmocka_unit_test(each_type_is_at_the_number_that_libbpf_gives_it),
		cmocka_unit_test(names_without_a_type_have_no_number),
		cmocka_unit_test(what_programs_need_of_types_is_found_without_libbpf_as_it_finds_it),
		cmocka_unit_test(a_type_at_the_front_is_found_without_a_walk_to_the_end),
		cmocka_unit_test(damaged_descriptions_are_refused_or_end_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
