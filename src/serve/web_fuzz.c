/* web_fuzz.c: a file of TLS and users, whatever is in it. */
#include <string.h>

#include "serve/web_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct web w = { 0 };
	struct err e = { 0 };

	if (web_parse(&w, (const char *)data, size, &e) == 0)
		assert(!w.cert_file == !w.key_file);
	else
		assert(*e.text);
	for (uint32_t i = 0; i < w.nusers; i++)
		assert(w.user[i].name && w.user[i].hash && w.user[i].hash[0] == '$');
	web_close(&w);
	return 0;
}
