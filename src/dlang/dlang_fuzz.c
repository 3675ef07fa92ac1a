/* dlang_fuzz.c: D source from anywhere; it compiles or is refused in words, within bounds. */
#include "dlang/dlang.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int probes(void *a, const struct d_probedesc *d, int (*add)(void *, uint32_t), void *to, struct err *e)
{
	(void)a, (void)e;
	return d->name[0] == '!' ? 0 : add(to, 1) < 0 || add(to, (uint8_t)d->name[0]) < 0 ? -TALLY_ENOMEM : 2;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf b = { 0 };
	struct d_env env = {
		.probes = probes, .errtags = true, .defaultargs = size & 1, .dump = "type", .dump_to = &b
	};
	struct err e = { 0 }, why = { 0 };
	const struct d_program *p;
	struct d_unit *u = NULL;
	int rc = d_open(&u, &env) < 0 ? -1 : d_source(u, size & 2 ? "f.d" : NULL, (const char *)data, size, &e);
	rc = rc < 0 ? rc : d_compile(u, &p, &e, &why);
	assert(rc >= 0 || e.text[0] != '\0');
	d_close(u);
	buf_free(&b);
	return 0;
}
