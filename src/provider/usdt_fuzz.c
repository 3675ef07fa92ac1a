/* Arguments of static probes: whatever a file says, each operand is one that a program can read. */
#include <stdlib.h>
#include <string.h>

#include "provider/provider_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct bpf_operand o[OPERANDS_MOST];
	char *text = mem_alloc(n + 1);

	if (!text)
		return 0;
	memcpy(text, data, n);
	for (enum sym_machine m = SYM_X86_64; m <= SYM_AARCH64; m++) {
		const uint8_t count = usdt_operands(m, text, o);

		for (uint8_t i = 0; i < count; i++)
			if (o[i].kind > OPERAND_MEM_INDEX || o[i].shift > 3 || o[i].reg < 0 || o[i].reg > 256 ||
			    o[i].reg % 8 || o[i].index < 0 || o[i].index > 256 || (o[i].bytes & (o[i].bytes - 1)) ||
			    o[i].bytes > 8 || !o[i].bytes)
				abort();
	}
	mem_free(text);
	return 0;
}
