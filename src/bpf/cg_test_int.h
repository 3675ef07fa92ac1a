/* cg_test_int.h: D source that is compiled and generated, for tests. */
#ifndef TALLY_BPF_CG_TEST_INT_H
#define TALLY_BPF_CG_TEST_INT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "bpf/bpf.h"

struct made {
	struct d_unit *u;
	const struct d_program *p;
	struct bpf_image *img;
};

static inline bool made_word_fits(const char *wanted, const char *word)
{
	return !*wanted || !strcmp(wanted, word);
}

/* d_env.probes; arg: the struct bpf_opts, whose probes these are. */
static inline int made_probes(void *arg, const struct d_probedesc *d, int (*add)(void *, uint32_t), void *add_arg,
			      struct err *e)
{
	const struct bpf_opts *o = arg;
	int found = 0;

	(void)e;
	for (size_t i = 0; i < o->nprobes; i++) {
		const struct bpf_probe *p = &o->probe[i];

		if (!made_word_fits(d->prov, p->prov) || !made_word_fits(d->mod, p->mod) ||
		    !made_word_fits(d->func, p->func) || !made_word_fits(d->name, p->name))
			continue;
		if (add(add_arg, p->id) < 0)
			return -TALLY_ENOMEM;
		found++;
	}
	return found;
}

/* After an error too, made_close() releases what there is. */
static inline int made_generate(struct made *m, const char *text, const struct d_env *env, const struct bpf_opts *o,
				struct err *e)
{
	struct err why = { 0 };
	int rc;

	memset(m, 0, sizeof(*m));
	if ((rc = d_open(&m->u, env)) < 0 || (rc = d_source(m->u, NULL, text, strlen(text), e)) < 0 ||
	    (rc = d_compile(m->u, &m->p, e, &why)) < 0)
		return rc;
	return bpf_generate(m->p, o, &m->img, e);
}
static inline void made_close(struct made *m)
{
	bpf_image_free(m->img);
	d_close(m->u);
}

/* With small maps. What o leaves out: programs for x86-64, and a megabyte of variables. */
static inline void made_open(struct made *m, const char *text, struct bpf_opts o)
{
	const struct d_env env = { .probes = made_probes, .arg = &o, .strsize = 256 };
	struct err e = { 0 };

	if (!o.arch)
		o.arch = &bpf_arch_x86_64;
	if (!o.dynvar_bytes)
		o.dynvar_bytes = 1 << 20;
	o.ring_bytes = o.control_bytes = 4096;
	o.agg_entries = 16;
	if (made_generate(m, text, &env, &o, &e) < 0)
		fail_msg("%s: %s", text, e.text);
}

#endif
