/* found_test_int.h: a table of probes of this machine's processes, and which of its probes a description finds, for
 * tests. */
#ifndef TALLY_PROVIDER_FOUND_TEST_INT_H
#define TALLY_PROVIDER_FOUND_TEST_INT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "provider/provider.h"

struct found {
	uint32_t n, id[64];
};

static inline int found_add(void *arg, uint32_t id)
{
	struct found *f = arg;

	assert_true(f->n < COUNT(f->id));
	f->id[f->n++] = id;
	return 0;
}

/* As probes_match(). */
static inline int found_match(struct found *f, struct probes *t, const struct d_probedesc *d, struct err *e)
{
	*f = (struct found){ 0 };
	*e = (struct err){ 0 };
	return probes_match(t, d, found_add, f, e);
}

/* Of a machine without events. */
static inline struct probes *probes_table(struct prov_opts o)
{
	struct probes *t;

	o.sysfs = "test/sysfs/none";
	o.conf = "/nonexistent/dcpc.conf";
	assert_int_equal(probes_open(&t, &o), 0);
	return t;
}

#endif
