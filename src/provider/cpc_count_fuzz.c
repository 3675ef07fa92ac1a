/* cpc_count_fuzz.c: any bytes as an event that is to be counted, on a machine with PMUs. */
#include <string.h>

#include "provider/provider_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct prov_opts o = { .sysfs = "test/sysfs/intel" };
	struct prov_count is;
	struct err e = { 0 };
	struct probes *t;

	if (probes_open(&t, &o) < 0)
		return 0;
	if (prov_count(t, (const char *)data, n, &is, &e) >= 0 && (!is.n || !is.ev || !is.source))
		__builtin_trap();
	probes_close(t);
	return 0;
}
