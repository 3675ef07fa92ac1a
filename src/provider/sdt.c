/*
 * sdt.c: statically defined tracing, which on Linux are the kernel's tracepoints:
 *
 *	sdt:MODULE::NAME
 *
 * They are those of rawtp, under the name that users of D look for.
 */
#include "provider/provider_int.h"

static int sdt_offer(struct probes *t, struct err *e)
{
	return point_offer_all(t, &prov_sdt, e);
}

static int sdt_why_none(const struct probes *t, const struct d_probedesc *d, struct err *why)
{
	return point_why_none(&prov_sdt, t, d, why);
}

const struct provider prov_sdt = {
	.name = "sdt",
	.help = "tracepoints of the kernel, with their arguments",
	.is_long = true,
	.has_places = true,
	.provider = { STAB_EVOLVING, STAB_EVOLVING, DEP_ISA },
	.module = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN },
	.function = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN },
	.names = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN },
	.args = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN },
	.offer = sdt_offer,
	.why_none = sdt_why_none,
	.args_of = point_args,
};
