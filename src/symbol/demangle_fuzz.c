/* Any text as a mangled name: what is shown for it has room, and the time is bounded. */
#include <string.h>

#include "symbol/symbol_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char name[NAME_MOST + 8], text[NAME_MOST];
	size_t n;

	if (size < 2 || size > NAME_MOST)
		return 0;
	/* the first byte says which language */
	strcpy(name, (const char *[]){ "_Z", "_R", "_D", "" }[data[0] & 3]);
	n = strlen(name);
	memcpy(name + n, data + 1, size - 1);
	name[n + size - 1] = 0;
	for (enum sym_demangle how = SYM_DEMANGLE_ON; how <= SYM_DEMANGLE_SHORT; how++) {
		n = name_demangle(how, name, text, sizeof(text));
		assert(n < sizeof(text) && (!n || (strlen(text) == n && how != SYM_DEMANGLE_OFF)));
	}
	return 0;
}
