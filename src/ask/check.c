/*
 * check.c: whether counters obey the laws of their machine.
 *
 * Two readings of everything that may be read, an interval apart; then each law is asked.  Readings that are the same
 * check nothing.
 * A broken law is a finding, not an error of ours, and an unknown one says what it would need.
 */
#include <stdio.h>
#include <string.h>

#include "ask/ask_int.h"

#define SECOND UINT64_C(1000000000)

struct checking {
	struct tally_platform *p;
	struct tally_check c;
	struct hv_line *line;
	struct gpci_snapshot *before, *now;
};

static int snapshots(struct checking *k)
{
	struct err e = { 0 };
	int rc;

	if (k->p->on.row->embedded)           /* a machine that has run, like any other */
		(void)hv_pass(k->line, SECOND, k->c.stop);
	rc = gpci_snapshot_take(&k->before, k->line, &e);
	if (rc >= 0 && strcmp(k->p->on.row->name, "file")) {
		(void)hv_pass(k->line, k->c.interval_ns ? k->c.interval_ns : SECOND, k->c.stop);
		rc = gpci_snapshot_take(&k->now, k->line, &e);
	}
	if (rc >= 0 && k->now && !gpci_snapshot_moved(k->before, k->now))
		return plat_fail(k->p, TALLY_ESTATE, "nothing was checked: both readings are the same, so no counter moved between them; "
			       "read further apart (a window of the dispatcher is 10 ms), or see whether the platform's time passes");
	return rc < 0 ? hv_failed(k->p, rc, &e) : 0;
}

static enum gpci_verdict ask(const struct checking *k, const struct gpci_law *law, struct err *e)
{
	return k->now ? gpci_law_check(law, k->before, k->now, e) : gpci_law_check(law, NULL, k->before, e);
}

static void laws(struct checking *k, struct tbl *t)
{
	static const char *const name[] = { [GPCI_HOLDS] = "holds", [GPCI_BROKEN] = "BROKEN", [GPCI_UNKNOWN] = "unknown" };
	const struct gpci_law *law;

	for (uint32_t i = 0; (law = gpci_law_at(i)) != NULL; i++) {
		struct err e = { 0 };
		enum gpci_verdict v = ask(k, law, &e);

		k->c.holds += v == GPCI_HOLDS;
		k->c.broken += v == GPCI_BROKEN;
		k->c.unknown += v == GPCI_UNKNOWN;
		tbl_row(t, (struct an_cell[]){ AN_U(law->number), AN_S(name[v]), AN_S(law->text), v == GPCI_HOLDS ? AN_NONE : AN_S(e.text) });
		if (v != GPCI_HOLDS)
			plat_note(k->p, "law %u %s: %s", law->number, v == GPCI_BROKEN ? "is broken" : "can't be told", e.text);
	}
}

static int check(struct checking *k)
{
	static const struct an_column col[] = {
		{ "law", "LAW", AN_COUNT }, { "verdict", "VERDICT", AN_TEXT }, { "text", "WHAT", AN_TEXT }, { "why", "WHY", AN_TEXT },
	};
	struct tbl t = { .type = "law", .col = col, .ncols = COUNT(col), .text_skips = 1u << 3 };
	int rc = k->c.what ? 0 : plat_fail(k->p, TALLY_EINVAL, "nothing to check: gpci has laws");

	if (rc >= 0 && strcmp(k->c.what, "gpci"))
		rc = plat_fail(k->p, TALLY_EINVAL, "there are no laws of '%s'; gpci has some", k->c.what);
	if (rc >= 0)
		rc = hv_power_of(k->p, &k->line);
	if (rc >= 0 && k->line->relative)
		rc = plat_fail(k->p, TALLY_ENOTSUP, "the laws are about whole counters, and the kernel tells only how much they grow; "
			       "check a saved reply, or a platform behind a socket");
	if (rc >= 0)
		rc = snapshots(k);
	if (rc < 0)
		return rc;
	laws(k, &t);
	tbl_put(&t, &k->p->out, &k->c.to, true);
	tbl_free(&t);
	return plat_flush(k->p, &k->c.to);
}

int tally_check(struct tally_platform *p, struct tally_check *c)
{
	struct checking k = { .p = p };
	int rc;

	plat_enter(p);
	rc = plat_take(p, &k.c, sizeof(k.c), c);
	k.c.holds = k.c.broken = k.c.unknown = 0;
	if (rc >= 0)
		rc = check(&k);
	gpci_snapshot_free(k.before);
	gpci_snapshot_free(k.now);
	if (rc >= 0)
		opts_give(c, &k.c, sizeof(k.c));
	return rc;
}
