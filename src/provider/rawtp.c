/*
 * rawtp.c: probes at the kernel's tracepoints, with the arguments that the kernel hands to them:
 *
 *	rawtp:MODULE::NAME
 *
 * A tracepoint's record, as tracefs shows it, is made of these arguments; a program that takes them directly is faster
 * and sees more.
 */
#include "provider/provider_int.h"

static int rawtp_offer(struct probes *t, struct err *e)
{
	return point_offer_all(t, &prov_rawtp, e);
}

static int rawtp_why_none(const struct probes *t, const struct d_probedesc *d, struct err *why)
{
	return point_why_none(&prov_rawtp, t, d, why);
}

const struct provider prov_rawtp = {
	.name = "rawtp",
	.help = "raw tracepoints of the kernel, with their arguments",
	.is_long = true,
	.has_places = true,
	.provider = { STAB_EVOLVING, STAB_EVOLVING, DEP_ISA },
	.module = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN },
	.function = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN },
	.names = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN },
	.args = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN },
	.offer = rawtp_offer,
	.why_none = rawtp_why_none,
	.args_of = point_args,
};
