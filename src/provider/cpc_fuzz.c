/* cpc_fuzz.c: any bytes as the name of a cpc probe and as dcpc.conf; seeds in test/fuzz/cpc. */
#include <string.h>

#include "provider/provider_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpc_spec spec;
	struct err e = { 0 };
	uint64_t min = 0;
	char name[512];
	size_t n = size < sizeof(name) ? size : sizeof(name) - 1;

	memcpy(name, data, n);
	name[n] = 0;
	if (cpc_parse(name, &spec, &e) == 0)
		assert(*spec.event && spec.mode <= CPC_ALL && !spec.count != !spec.freq && spec.nattrs <= CPC_ATTRS);
	else
		assert(e.code == TALLY_EINVAL && *e.text);
	cpc_conf_parse((const char *)data, size, &min, &e);
	return 0;
}
