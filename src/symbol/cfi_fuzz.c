/*
 * Any bytes as a file whose unwind tables are read: there is an answer, and it is in order.
 *
 * libdw (0.188) makes room for as many registers as a table names, so a table of a few bytes can ask for gigabytes. 
 * Here it gets none of that, and what it then says is an answer, too; SECURITY.md says what it means elsewhere.
 */
#include "symbol/unwind.h"

__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "max_allocation_size_mb=256:allocator_may_return_null=1";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct sym_cfi_bytes b = { .fd = -1, .p = data, .n = size };
	const enum sym_machine machine = size % 2 ? SYM_AARCH64 : SYM_X86_64;
	struct sym_cfi c;
	uint64_t at;

	if (!data || sym_cfi_read(&c, machine, &b) < 0)
		return 0;
	for (uint32_t i = 1; i < c.n; i++)
		assert(c.row[i - 1].addr <= c.row[i].addr);
	(void)sym_cfi_addr(&c, size / 2, &at);
	sym_cfi_free(&c);
	return 0;
}
