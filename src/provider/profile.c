/*
 * profile.c: probes that fire by time (Dynamic Tracing Guide, "profile Provider").
 *
 *	profile-N[unit]   on every CPU, every N units or N times a second.  Perf's cpu-clock event fires it, so
 *	                  a firing has the PC of what it interrupted.
 *	tick-N[unit]      on one CPU.  A timer of the tracer fires it.
 *
 * Without a unit N is a rate in Hz.  An interval below 200 microseconds is refused: the firings themselves would be
 * most of what they measure.
 */
#include <string.h>

#include "facts/event.h"
#include "provider/provider_int.h"

#define LEAST_NS 200000ULL

/* "10ms" to nanoseconds between firings. */
int prov_interval(const char *text, uint64_t *ns, struct err *why)
{
	char digits[32] = "";
	const size_t n = strspn(text, "0123456789");
	const int64_t unit = text_time_unit(text + n);
	uint64_t v;

	if (!n || n >= sizeof(digits))
		return err_set(why, TALLY_EINVAL,
			       "invalid rate or interval \"%s\" (expected a number and ns, us, ms, s, m, h, d or hz)",
			       text);
	memcpy(digits, text, n);
	if (unit < 0)
		return err_set(why, TALLY_EINVAL, "unknown unit \"%s\" (expected ns, us, ms, s, m, h, d or hz)",
			       text + n);
	if (!text_u64(digits, &v) || !v)
		return err_set(why, TALLY_EINVAL, "%s is %s", text,
			       strspn(text, "0") == n ? "no interval" : "too large");
	if (!unit)
		*ns = SECOND_NS / v;
	else if (__builtin_mul_overflow(v, unit, ns) || *ns > INT64_MAX)
		return err_set(why, TALLY_EINVAL, "%s is too large", text);
	if (*ns < LEAST_NS)
		return err_set(why, TALLY_EINVAL, "%s is below the minimum interval of 200us (5000hz)", text);
	return 0;
}

static int profile_make_probe(struct probes *t, const char *name, uint32_t *id, struct err *why)
{
	bool tick = !strncmp(name, "tick-", 5);
	struct k_event *ev;
	struct probe *p;
	uint64_t ns = 0;
	int rc = prov_interval(strchr(name, '-') + 1, &ns, why);

	if (rc < 0)
		return rc;
	ev = arena_alloc(&t->arena, sizeof(*ev));
	p = ev ? probes_add(t, &prov_profile, name) : NULL;
	if (!p)
		return err_oom(why);
	*id = p->id;
	if (p->source)
		return 0;
	if (tick) {
		p->arm = ARM_TICK;
		p->tick_ns = ns;
		p->source = "timer";
		return 0;
	}
	*ev = (struct k_event){ .type = EVENT_TYPE_SW, .config = event_find("cpu_clock")->config, .period = ns };
	p->event = ev;
	p->nevents = 1;
	p->arm = ARM_EVENT;
	p->source = "perf software event cpu-clock";
	return 0;
}

/* "tikc-1s": near one of ours, and a rate behind it. */
static int profile_misspelt(const char *name, struct err *why)
{
	static const char *const ours[] = { "profile", "tick" };
	const char *dash = strchr(name, '-'), *near;
	char word[16] = "";
	uint64_t ns;
	struct err e = { 0 };

	if (!dash || (size_t)(dash - name) >= sizeof(word) || prov_interval(dash + 1, &ns, &e) < 0)
		return 0;
	memcpy(word, name, (size_t)(dash - name));
	near = text_nearest(word, TEXT_NAMES(ours, COUNT(ours)));
	return near ? err_set(why, TALLY_ENOPROBE, "no probe \"%s\"; did you mean %s%s?", name, near, dash) : 0;
}

static int profile_name(struct probes *t, const char *name, int (*add)(void *arg, uint32_t id), void *arg,
			struct err *why)
{
	uint32_t id;
	int rc;

	if (strncmp(name, "profile-", 8) && strncmp(name, "tick-", 5))
		return profile_misspelt(name, why);
	rc = profile_make_probe(t, name, &id, why);
	if (rc >= 0)
		rc = add(arg, id);
	return rc < 0 ? rc : 1;
}

/* The rates that listings of this provider have always shown. */
static int profile_offer(struct probes *t, struct err *e)
{
	static const char *const names[] = {
		"profile-97",   "profile-199",  "profile-499", "profile-997", "profile-1999",
		"profile-4001", "profile-4999", "tick-1",      "tick-10",     "tick-100",
		"tick-500",     "tick-1000",    "tick-5000",
	};
	uint32_t id;
	int rc = 0;

	for (size_t i = 0; i < COUNT(names) && rc >= 0; i++)
		rc = profile_make_probe(t, names[i], &id, e);
	return rc;
}

const struct provider prov_profile = {
	.name = "profile",
	.is_alone = true,
	.help = "time: profile-N on every CPU, tick-N on one",
	.provider = { STAB_EVOLVING, STAB_EVOLVING, DEP_COMMON },
	.module = { STAB_UNSTABLE, STAB_UNSTABLE, DEP_UNKNOWN },
	.function = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN },
	.names = { STAB_EVOLVING, STAB_EVOLVING, DEP_COMMON },
	.args = { STAB_EVOLVING, STAB_EVOLVING, DEP_COMMON },
	.name_probe = profile_name,
	.offer = profile_offer,
};
