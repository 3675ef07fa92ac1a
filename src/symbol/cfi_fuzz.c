/* Any bytes as a file whose unwind tables are read: there is an answer, and it is bounded and in order. */
#include "symbol/unwind.h"

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
