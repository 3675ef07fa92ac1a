/*
 * world_test_int.h: a world to compile in, for tests.
 */
#ifndef TALLY_DLANG_WORLD_TEST_INT_H
#define TALLY_DLANG_WORLD_TEST_INT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/base.h"
#include "dlang/dlang.h"

struct world {
	struct d_env env;
	struct d_unit *u;
	struct err e, why;
	struct buf dump;
	const struct d_program *p;
	char option[64]; /* the last one set */
};

/* BEGIN END ERROR are 1 2 3; tick-* is 4; rec's one and two are 5 and 6 and have args[]; cpc knows cpu_clock; more
 * names are of nobody. */
static const char *const fixed_probes[] = { "BEGIN", "END", "ERROR", "tick-1s" };

static inline int world_match_cpc(const struct d_probedesc *d, int (*add)(void *, uint32_t), void *arg, struct err *e)
{
	if (strncmp(d->name, "cpu_clock-", 10) == 0) {
		int rc = add(arg, 10 + (uint32_t)strlen(d->name));
		return rc < 0 ? rc : 1;
	}
	return err_set(e, TALLY_ENOPROBE, "cpc: no event \"%s\"", d->name);
}

static const struct d_field rec_fields[] = {
	{ "when", "uint64_t", 0, 8 },   { "size", "uint32_t", 8, 4 }, { "flags", "uint8_t", 12, 1 },
	{ "change", "int16_t", 14, 2 }, { "name", "string", 32, 16 },
};
static const struct d_field more_fields[] = { { "count", "uint64_t", 0, 8 } };
static const struct d_args rec_args[] = {
	{ .name = "struct rec", .field = rec_fields, .nfields = COUNT(rec_fields), .base = 0, .size = 48 },
	{ .name = "struct more", .field = more_fields, .nfields = COUNT(more_fields), .base = 48, .size = 8 },
};

static inline const struct d_args *world_args(void *world, uint32_t probe, uint32_t index)
{
	(void)world;
	if (probe == 7)
		return index == 0 ? &rec_args[1] : NULL;
	return probe >= 5 && probe <= 6 && index < probe - 4 ? &rec_args[index] : NULL;
}

static inline int world_match_rec(const struct d_probedesc *d, int (*add)(void *, uint32_t), void *arg)
{
	static const char *const names[] = { "one", "two", "other" };
	int n = 0;
	for (uint32_t i = 0; i < COUNT(names); i++) {
		if (!text_glob(d->name, names[i]))
			continue;
		int rc = add(arg, 5 + i);
		if (rc < 0)
			return rc;
		n++;
	}
	return n;
}

static inline int world_probes(void *world, const struct d_probedesc *d, int (*add)(void *, uint32_t), void *arg,
			       struct err *e)
{
	int n = 0;
	(void)world;
	if (strcmp(d->prov, "cpc") == 0)
		return world_match_cpc(d, add, arg, e);
	if (strcmp(d->prov, "rec") == 0)
		return world_match_rec(d, add, arg);
	if (strcmp(d->func, "-") == 0)
		return err_set(e, TALLY_ESYNTAX, "the name of a probe of function \"-\" is an address");
	for (uint32_t i = 0; i < COUNT(fixed_probes); i++) {
		const char *prov = i < 3 ? "dtrace" : "profile";
		if (!text_glob(d->prov, prov) || !text_glob(d->name, fixed_probes[i]))
			continue;
		int rc = add(arg, i + 1);
		if (rc < 0)
			return rc;
		n++;
	}
	return n;
}

static inline int world_counter(void *world, const char *event, struct err *e)
{
	(void)world;
	return strncmp(event, "event", 5) == 0 ? 0 : err_set(e, TALLY_EINVAL, "no event \"%s\"", event);
}

static inline int world_provider(void *world, const char *name, struct err *e)
{
	(void)world;
	return strcmp(name, "cpc") == 0 ? 0 : err_set(e, TALLY_ENOPROBE, "no provider \"%s\"", name);
}

static inline const char *world_macro(void *world, const char *name)
{
	static const char *const values[] = {
		"target", "42",    "pid", "9",   "1", "7",         "2", "name", "3",  "0x10",
		"4",      "-50",   "5",   "+50", "6", "two words", "7", "5x",   "77", "0x12345678123456781",
		"78",     "-5abc", "79",  "08",
	};
	(void)world;
	for (size_t i = 0; i < COUNT(values); i += 2)
		if (strcmp(values[i], name) == 0)
			return values[i + 1];
	return NULL;
}

static inline int world_option(void *arg, const char *name, const char *value, struct err *e)
{
	struct world *w = arg;
	snprintf(w->option, sizeof(w->option), "%s=%s", name, value != NULL ? value : "");
	if (strcmp(name, "nosuch") == 0)
		return err_set(e, TALLY_EINVAL, "Invalid option name");
	if (value != NULL && strcmp(value, "many") == 0)
		return err_set(e, TALLY_EINVAL, "Invalid value for specified option");
	return 0;
}

static inline void world_init(struct world *w)
{
	*w = (struct world){ .env = { .probes = world_probes,
				      .args = world_args,
				      .counter = world_counter,
				      .provider = world_provider,
				      .macro = world_macro,
				      .option = world_option,
				      .errtags = true,
				      .dump = "type" } };
	w->env.arg = w;
	w->env.dump_to = &w->dump;
}

static inline int world_compile(struct world *w, const char *name, const char *text, size_t n)
{
	int rc = d_open(&w->u, &w->env);
	if (rc >= 0)
		rc = d_source(w->u, name, text, n, &w->e);
	if (rc >= 0)
		rc = d_compile(w->u, &w->p, &w->e, &w->why);
	return rc;
}

static inline void world_fini(struct world *w)
{
	d_close(w->u);
	buf_free(&w->dump);
	w->u = NULL;
}

#endif
