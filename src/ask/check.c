/*
 * check.c: whether counters obey the invariants of their machine.
 *
 * Two readings of everything that may be read, an interval apart; then each invariant is asked.  Readings that are the
 * same check nothing. A broken invariant is a finding, not an error of ours, and an unknown one says what it would
 * need.
 */
#include <stdio.h>
#include <string.h>

#include "ask/ask_int.h"

#define SECOND UINT64_C(1000000000)

struct checking {
	struct tally_platform *p;
	struct tally_check_opts c;
	struct tally_check_result result;
	struct hv_transport *transport;
	struct gpci_snapshot *before, *now;
};

static int check_read_snapshots(struct checking *k)
{
	struct err e = { 0 };
	int rc;

	if (k->p->on.row->is == PLAT_MODEL) /* a machine that has run, like any other */
		(void)hv_pass(k->transport, SECOND, k->c.stop);
	rc = gpci_snapshot_take(&k->before, k->transport, &e);
	if (rc >= 0 && k->p->on.row->is != PLAT_SAVED) {
		(void)hv_pass(k->transport, k->c.interval_ns ? k->c.interval_ns : SECOND, k->c.stop);
		rc = gpci_snapshot_take(&k->now, k->transport, &e);
	}
	if (rc >= 0 && k->now && !gpci_snapshot_moved(k->before, k->now))
		return plat_fail(
			k->p, TALLY_ENOTSUP,
			"nothing was checked: no counter changed between the two readings; use a longer "
			"interval (-I; the dispatcher's window is 10 ms), or see whether the platform is running");
	return rc < 0 ? hv_failed(k->p, rc, &e) : 0;
}

void check_row(struct tally_platform *p, struct tally_check_result *result, struct an_rows *t, struct check_invariant l)
{
	static const char *const name[] = {
		[CHECK_HOLDS] = "holds", [CHECK_BROKEN] = "BROKEN", [CHECK_UNKNOWN] = "unknown"
	};
	const bool holds = l.verdict == CHECK_HOLDS;

	result->holds += holds;
	result->broken += l.verdict == CHECK_BROKEN;
	result->unknown += l.verdict == CHECK_UNKNOWN;
	an_rows_add(t, (struct an_cell[]){ AN_U(l.number), AN_S(l.name), AN_S(name[l.verdict]), AN_S(l.text),
					   holds ? AN_NONE : AN_S(l.why) });
	if (!holds)
		plat_note(p, "invariant %u, %s, %s: %s", l.number, l.name,
			  l.verdict == CHECK_BROKEN ? "is broken" : "cannot be checked", l.why);
}

static int check_gpci(struct checking *k, struct an_rows *t)
{
	static const uint8_t verdict[] = {
		[GPCI_HOLDS] = CHECK_HOLDS, [GPCI_BROKEN] = CHECK_BROKEN, [GPCI_UNKNOWN] = CHECK_UNKNOWN
	};
	const struct gpci_invariant *invariant;
	int rc = hv_power_of(k->p, &k->transport);

	if (rc >= 0 && k->transport->relative)
		rc = plat_fail(k->p, TALLY_ENOTSUP,
			       "the invariants need absolute counter values, and the kernel reports only their growth; "
			       "check a saved reply, or a platform behind a socket");
	if (rc >= 0)
		rc = check_read_snapshots(k);
	for (uint32_t i = 0; rc >= 0 && (invariant = gpci_invariant_at(i)) != NULL; i++) {
		struct err e = { 0 };
		const enum gpci_verdict v = k->now ? gpci_invariant_check(invariant, k->before, k->now, &e) :
						     gpci_invariant_check(invariant, NULL, k->before, &e);

		check_row(k->p, &k->result, t,
			  (struct check_invariant){ invariant->number, invariant->name, verdict[v], invariant->text,
						    e.text });
	}
	if (rc >= 0 && !k->result.holds && !k->result.broken)
		return plat_fail(k->p, TALLY_ENOTSUP,
				 "nothing was checked: no invariant could be, for the reasons that are said of each");
	return rc;
}

static int check_run(struct checking *k)
{
	static const struct an_column col[] = {
		{ "invariant", "NO", AN_COUNT },  { "name", "NAME", AN_TEXT }, { "verdict", "VERDICT", AN_TEXT },
		{ "text", "INVARIANT", AN_TEXT }, { "why", "WHY", AN_TEXT },
	};
	struct an_rows t = { .type = "invariant", .col = col, .ncols = COUNT(col), .text_skips = 1u << 1 | 1u << 4 };
	const char *what = k->c.what;
	int rc;

	if (!what)
		rc = plat_fail(k->p, TALLY_EINVAL, "nothing to check: name gpci, vfalls, mmustat or ptt");
	else if (!strcmp(what, "gpci"))
		rc = check_gpci(k, &t);
	else if (!strcmp(what, "vfalls") || !strcmp(what, "mmustat"))
		rc = check_sun4v(k->p, &k->c, &k->result, *what == 'v', &t);
	else if (!strcmp(what, "ptt"))
		rc = check_ptt(k->p, &k->c, &k->result, &t);
	else
		rc = plat_fail(k->p, TALLY_EINVAL, "cannot check '%s' (expected gpci, vfalls, mmustat or ptt)", what);
	if (rc >= 0)
		(void)an_rows_put(&k->p->emit, &t, true);
	an_rows_free(&t);
	return rc < 0 ? rc : plat_flush(k->p, &k->c.to);
}

int tally_check(struct tally_platform *p, const struct tally_check_opts *opts, struct tally_check_result *ret)
{
	struct checking k = { .p = p, .result = { .size = sizeof(k.result) } };
	int rc;

	rc = plat_enter(p);
	if (rc >= 0)
		rc = plat_take(p, &k.c, sizeof(k.c), opts);
	if (rc >= 0)
		rc = plat_emit_open(p, &k.c.to);
	if (rc >= 0)
		rc = check_run(&k);
	gpci_snapshot_free(k.before);
	gpci_snapshot_free(k.now);
	opts_give(ret, &k.result, sizeof(k.result));
	return rc;
}
