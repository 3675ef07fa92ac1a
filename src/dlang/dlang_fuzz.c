/*
 * dlang_fuzz.c: D source from anywhere; it compiles or is refused in words, within bounds.
 *
 * What stands before a line "%%" is a library of the user.  There are the types of a kernel (fake_kernel.h), and the
 * libraries that tally brings where they are found.
 */
#include "dlang/fake_kernel.h"
#include "dlang/shipped.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int probes(void *a, const struct d_probedesc *d, int (*add)(void *, uint32_t), void *to, struct err *e)
{
	(void)a, (void)e;
	return d->name[0] == '!' ? 0 : add(to, 1) < 0 || add(to, (uint8_t)d->name[0]) < 0 ? -TALLY_ENOMEM : 2;
}

/* Two kinds of probes, of which one has fewer arguments. */
static const struct d_args *args(void *a, uint32_t probe, uint32_t index)
{
	static const struct d_args odd = { .value = "int", .text = "(int)__word1" },
				   even = { .value = "long", .text = "(long)__word0" };

	(void)a;
	return probe & 1 ? (index < 4 ? &odd : NULL) : index < 2 ? &even : NULL;
}

static bool fuzz_library(void *arg, uint32_t i, struct d_library *ret)
{
	const struct d_library *of_input = arg;

	if (of_input->n == 0)
		return shipped_library(i, ret);
	if (i > 0)
		return shipped_library(i - 1, ret);
	*ret = *of_input;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char border[] = "\n%%\n";
	const char *text = (const char *)data, *end = memmem(data, size, border, sizeof(border) - 1);
	struct d_library first = {
		.name = "first.d", .text = text, .n = end ? (size_t)(end - text) : 0, .of_user = true
	};
	struct buf b = { 0 };
	struct d_env env = { .probes = probes,
			     .args = args,
			     .arg = &first,
			     .dlibrary = fuzz_library,
			     .own_libraries = end != NULL,
			     .ktypes = &fake_kernel,
			     .errtags = true,
			     .defaultargs = size & 1,
			     .dump = "type",
			     .dump_to = &b };
	struct err e = { 0 }, why = { 0 };
	const struct d_program *p;
	struct d_unit *u = NULL;

	text = end ? end + sizeof(border) - 1 : text;
	int rc = d_open(&u, &env) < 0 ?
			 -1 :
			 d_source(u, size & 2 ? "f.d" : NULL, text, size - (size_t)(text - (const char *)data), &e);
	rc = rc < 0 ? rc : d_compile(u, &p, &e, &why);
	assert(rc >= 0 || e.text[0] != '\0');
	d_close(u);
	buf_free(&b);
	return 0;
}
