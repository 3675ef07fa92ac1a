/* unicorn_image_fuzz.c: any bytes as an image of either CPU: what is loaded lies in memory, and its entry, too. */
#include <string.h>

#include "attach/unicorn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t ram[65536];
	const struct emu_memory m = { ram, size && *data & 2 ? 0x80000000u : 0, sizeof(ram) };
	struct emu_image image;
	struct err e = { 0 };

	if (!size)
		return 0;
	memset(ram, 0, sizeof(ram));
	if (emu_image_load(&image, &m, *data & 1 ? EMU_POWER64 : EMU_SPARC64, *data & 1 ? 0x100 : 0, data + 1, size - 1,
			   &e) == 0) {
		if (image.entry < m.base || image.entry - m.base > m.bytes - 4 || image.entry % 4)
			__builtin_trap();
	} else if (!e.code || !e.text[0]) {
		__builtin_trap();
	}
	return 0;
}
