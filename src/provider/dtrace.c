/*
 * dtrace.c: the provider of the tracer itself: BEGIN, END and ERROR, with the ids 1, 2, 3 that
 * scripts and tests have always seen (Dynamic Tracing Guide, "dtrace Provider").
 */
#include <string.h>

#include "provider/provider_int.h"

static const struct {
	const char *name;
	uint8_t arm;
	const char *source;
} rows[] = {
	{ "BEGIN", ARM_BEGIN, "before all other probes" },
	{ "END", ARM_END, "after all other probes" },
	{ "ERROR", ARM_ERROR, "a fault in a clause" },
};

static int dtrace_offer(struct probes *t, struct err *e)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct probe *p = probes_add(t, &prov_dtrace, rows[i].name);

		if (!p)
			return err_oom(e);
		p->arm = rows[i].arm;
		p->source = rows[i].source;
	}
	return 0;
}

static int dtrace_name(struct probes *t, const char *name, int (*add)(void *arg, uint32_t id), void *arg,
		       struct err *why)
{
	int rc;

	(void)t;
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (strcmp(rows[i].name, name))
			continue;
		rc = add(arg, (uint32_t)i + 1);
		return rc < 0 ? rc : 1;
	}
	return prov_misspelt("probe", name, TEXT_NAMES_OF(rows, name), why);
}

const struct provider prov_dtrace = {
	.name = "dtrace",
	.is_alone = true,
	.help = "start, end and errors of the tracing itself",
	.has_bare_names = true,
	.provider = { STAB_STABLE, STAB_STABLE, DEP_COMMON },
	.module = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN },
	.function = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN },
	.names = { STAB_STABLE, STAB_STABLE, DEP_COMMON },
	.args = { STAB_STABLE, STAB_STABLE, DEP_COMMON },
	.name_probe = dtrace_name,
	.offer = dtrace_offer,
};
