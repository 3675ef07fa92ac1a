/* function_test.c: which of the kernel's names are functions, and what the trial of a probe leaves behind. */
#include <bpf/btf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/handmade_int.h"

enum { NAMES_MOST = 32 };

static int note_function(void *arg, const struct k_function *f)
{
	(void)f;
	++*(uint32_t *)arg;
	return 0;
}

static struct k_types *types_or_skip(void)
{
	struct k_types *t = NULL;

	if (access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		print_message("# skipped: this kernel has no type information (/sys/kernel/btf/vmlinux)\n");
		skip();
	}
	assert_int_equal(k_types_open(&t), 0);
	return t;
}

/* The type of a function may have a name, too: nothing can be attached to that. */
static void a_name_of_a_functions_type_is_no_function(void **state)
{
	struct k_types *t = types_or_skip();
	struct btf *btf = btf__parse("/sys/kernel/btf/vmlinux", NULL);
	uint32_t seen = 0, n;

	(void)state;
	assert_non_null(btf);
	for (uint32_t id = 1; id < btf__type_cnt(btf) && seen < NAMES_MOST; id++) {
		const struct btf_type *type = btf__type_by_id(btf, id), *of;
		const char *name = btf__name_by_offset(btf, type->name_off);
		struct k_function f;

		if (!btf_is_typedef(type) || btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0)
			continue;
		of = btf__type_by_id(btf, type->type);
		if (!of || !btf_is_func_proto(of))
			continue;
		n = 0;
		assert_int_equal(k_functions(t, "vmlinux", name, note_function, &n), 0);
		if (n)
			fail_msg("%s", name);
		assert_false(k_function_find(t, "vmlinux", name, &f));
		seen++;
	}
	n = 0;
	assert_int_equal(k_functions(t, "vmlinux", "vfs_read", note_function, &n), 0);
	assert_int_equal(n, 1);
	btf__free(btf);
	k_types_close(t);
}

static int lowest_free_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	close(fd);
	return fd;
}

static void the_trial_of_a_probe_leaves_nothing_open(void **state)
{
	static const enum k_functions wanted[] = { K_FUNCTIONS_UNKNOWN, K_FUNCTIONS_FENTRY, K_FUNCTIONS_KPROBE };
	struct k_types *t;
	int fd;

	(void)state;
	HM_NEED_RIGHTS();
	t = types_or_skip();
	for (size_t i = 0; i < COUNT(wanted); i++) {
		struct err e = { 0 };
		int rc;

		(void)k_functions_trial(t, wanted[i], &e); /* what it loads once stays */
		fd = lowest_free_descriptor();
		e = (struct err){ 0 };
		rc = k_functions_trial(t, wanted[i], &e);
		assert_int_equal(lowest_free_descriptor(), fd);
		assert_true(rc < 0 ? *e.text != '\0' : rc == K_FUNCTIONS_FENTRY || rc == K_FUNCTIONS_KPROBE);
		if (rc >= 0 && wanted[i] != K_FUNCTIONS_UNKNOWN)
			assert_int_equal(rc, wanted[i]);
	}
	k_types_close(t);
	assert_int_equal(mem_live(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_of_a_functions_type_is_no_function),
		cmocka_unit_test(the_trial_of_a_probe_leaves_nothing_open),
	};

	return cmocka_run_group_tests_name("kernel: function", tests, NULL, NULL);
}
