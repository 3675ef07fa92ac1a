/* Any bytes as an ELF file: there is an answer, and it is bounded. */
#include "symbol/symbol_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct object_bytes b = { .fd = -1, .p = data, .n = size };
	struct object o = { 0 };
	uint64_t at = 0;

	if (object_ident(&o, &b) == 0) {
		object_symbols(&o, &b);
		object_variables(&o, &b);
	}
	object_vaddr(&o, size / 2, &at);
	table_find(&o.t, at);
	table_find(&o.variables, at);
	for (uint32_t i = 1; i < o.t.n; i++)
		assert(o.t.v[i - 1].start < o.t.v[i].start && table_find(&o.t, o.t.v[i].start));
	object_free(&o);
	return 0;
}
