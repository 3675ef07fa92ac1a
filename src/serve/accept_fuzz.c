/* accept_fuzz.c: an Accept header, and the same bytes as a label and a number, from anybody. */
#include <string.h>

#include "serve/serve_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf b = { 0 };
	double v = 0;

	(void)format_accepted((const char *)data, size);
	format_label(&b, "x", (const char *)data, size);
	assert(b.n >= 4 && b.n <= 4 + 3 * size && b.p[b.n - 1] == '"');
	for (size_t i = 3, n = b.n - 1; i < n; i++) { /* no quote and no newline that is not escaped */
		assert(b.p[i] != '\n' && b.p[i] != '"');
		i += b.p[i] == '\\';
	}
	buf_clear(&b);
	buf_identifier(&b, (const char *)data, size);
	buf_clear(&b);
	memcpy(&v, data, size < sizeof(v) ? size : sizeof(v));
	format_number(&b, v);
	assert(b.n < 32);
	buf_free(&b);
	return 0;
}
