/* .eh_frame as rows of rules. The truth is the ABI: what is on the stack when a function begins, and what libc's entries must hold. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "symbol/unwind.h"

#if defined(__x86_64__)
#define HERE SYM_X86_64
#elif defined(__aarch64__)
#define HERE SYM_AARCH64
#else
#define HERE SYM_OTHER_MACHINE
#endif

/* gcc 12's LeakSanitizer ends with a fault of its own in the thread-local memory of a library that was opened at run time, libelf's. What
 * this code allocates is counted by mem_live(). */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return 1;
}

static const struct img_unwind_rule *rule_at(const struct sym_cfi *c, uint64_t addr)
{
	const struct img_unwind_rule *r = NULL;

	for (uint32_t i = 0; i < c->n && c->row[i].addr <= addr; i++)
		r = &c->row[i].rule;
	return r;
}

/* The file that holds a function of this process, and the function's address in it. */
static uint64_t read_file_of(const void *function, struct sym_cfi *c)
{
	Dl_info in;
	int fd;

	assert_true(dladdr(function, &in));
	fd = open(in.dli_fname, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(sym_cfi_read(c, HERE, &(struct sym_cfi_bytes){ fd, NULL, 0 }), 0);
	close(fd);
	return (uint64_t)(uintptr_t)function - (uint64_t)(uintptr_t)in.dli_fbase;
}

static void a_function_begins_with_its_return_address_on_top(void **state)
{
	static const char *const name[] = { "qsort", "memcpy", "strtol", "printf", "malloc" };
	struct sym_cfi c;

	(void)state;
	for (size_t i = 0; i < COUNT(name); i++) {
		void *function = dlsym(dlopen("libc.so.6", RTLD_NOW), name[i]);
		const struct img_unwind_rule *r;
		uint64_t at;

		assert_non_null(function);
		at = read_file_of(function, &c);
		assert_true(c.n > 1000 && c.nloads && !c.foreign && !c.late);
		for (uint32_t k = 1; k < c.n; k++)
			assert_true(c.row[k - 1].addr < c.row[k].addr);
		r = rule_at(&c, at);
		assert_non_null(r);
		assert_int_equal(r->cfa_kind, UNWIND_CFA_SP);
		assert_int_equal(r->fp_kind, UNWIND_FP_SAME);
#if defined(__x86_64__)
		assert_int_equal(r->cfa, 8);
		assert_int_equal(r->ra_kind, UNWIND_RA_AT_CFA);
		assert_int_equal(r->ra, -8);
#else
		assert_int_equal(r->cfa, 0);
		assert_int_equal(r->ra_kind, UNWIND_RA_LINK);
#endif
		assert_int_equal(rule_at(&c, c.row[c.n - 1].addr + 4096)->cfa_kind, UNWIND_CFA_UNKNOWN);
		sym_cfi_free(&c);
	}
}

/* libc has an entry for what signal handlers return to, or the kernel's vDSO holds it. */
static void signals_are_returned_from_by_one_rule(void **state)
{
	const uint8_t *vdso = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	struct sym_cfi c;
	uint32_t n = 0;

	(void)state;
#if defined(__x86_64__)
	(void)read_file_of(dlsym(dlopen("libc.so.6", RTLD_NOW), "qsort"), &c);
#else
	assert_int_equal(sym_cfi_read(&c, HERE, &(struct sym_cfi_bytes){ -1, vdso, 8192 }), 0);
#endif
	for (uint32_t i = 0; i < c.n; i++)
		if (c.row[i].rule.flags & UNWIND_SIGNAL) {
			n++;
			assert_int_equal(c.row[i].rule.cfa_kind, UNWIND_CFA_AT_SP);
			assert_int_equal(c.row[i].rule.ra, c.row[i].rule.cfa + 8);
		}
	assert_int_equal(n, 1);
	sym_cfi_free(&c);
	if (vdso) {
		assert_int_equal(sym_cfi_read(&c, HERE, &(struct sym_cfi_bytes){ -1, vdso, 8192 }), 0);
		assert_true(c.n > 0);
		sym_cfi_free(&c);
	}
}

static void other_bytes_are_refused_or_have_no_rows(void **state)
{
	static uint8_t copy[8192], bytes[8192];
	const uint8_t *vdso = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	struct sym_cfi c;
	uint64_t addr;

	(void)state;
	assert_int_equal(sym_cfi_read(&c, HERE, &(struct sym_cfi_bytes){ -1, "no ELF file", 11 }), -TALLY_ECORRUPT);
	if (!vdso)
		skip();
	memcpy(copy, vdso, sizeof(copy));
	srand(1);
	for (int i = 0; i < 3000; i++) { /* whatever is wrong: there is an answer, and its rows are in order */
		const size_t n = i % 3 ? sizeof(bytes) : (size_t)rand() % sizeof(bytes);

		memcpy(bytes, copy, sizeof(bytes));
		for (int k = 0; k < 1 + i % 8; k++)
			bytes[(size_t)rand() % sizeof(bytes)] = (uint8_t)rand();
		if (sym_cfi_read(&c, HERE, &(struct sym_cfi_bytes){ -1, bytes, n }) < 0)
			continue;
		for (uint32_t k = 1; k < c.n; k++)
			assert_true(c.row[k - 1].addr <= c.row[k].addr);
		(void)sym_cfi_addr(&c, (uint64_t)rand(), &addr);
		sym_cfi_free(&c);
	}
	copy[18] ^= 0x55; /* e_machine */
	assert_int_equal(sym_cfi_read(&c, HERE, &(struct sym_cfi_bytes){ -1, copy, sizeof(copy) }), 0);
	assert_true(c.foreign && !c.n);
	sym_cfi_free(&c);
	assert_int_equal(mem_live(), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_begins_with_its_return_address_on_top),
		cmocka_unit_test(signals_are_returned_from_by_one_rule),
		cmocka_unit_test(other_bytes_are_refused_or_have_no_rows),
	};
	struct err why = { 0 };

	if (HERE == SYM_OTHER_MACHINE || sym_cfi_ready(&why) < 0) {
		print_message("skipped: %s\n", why.code ? why.text : "there are no unwind tables for this machine");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
