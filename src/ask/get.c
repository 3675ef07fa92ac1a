/*
 * get.c: get and set; of tunables here, of hypervisors in get_hv.c.
 *
 * A selector is DEVICE/NAME, with a slash behind it or none; DEVICE alone is all it
 * has.  What `get` prints as text is what `set` takes, so that `tally set $(tally
 * get hisi_ptt0_2)` puts back what was there.
 */
#include <string.h>

#include "ask/ask_int.h"

/* what a selector names */
struct pick {
	uint32_t device;
	const struct ptt_pmu *pmu;
	bool all;
	enum ptt_tune tune;
};

/* ---- selectors ---------------------------------------------------------------------------- */

/* The n bytes at s: "hisi_ptt0_2", "hisi_ptt0_2/", "hisi_ptt0_2/qos_tx_p", "hisi_ptt0_2/qos_tx_p/". */
static int get_pick_tunable(struct tally_platform *p, struct pick *ret, const char *s, size_t n)
{
	const char *slash = memchr(s, '/', n);
	size_t device = slash ? (size_t)(slash - s) : n;
	char name[64] = "";
	struct err e = { 0 };
	uint32_t npmus;
	int rc = plat_ptt_device(p, s, device, &ret->device);

	if (rc >= 0)
		rc = plat_ptt_list(p, &ret->pmu, &npmus);
	if (rc < 0)
		return rc;
	ret->pmu += ret->device;
	ret->all = n - device <= 1;
	if (ret->all)
		return 0;
	s += device + 1;
	n -= device + 1;
	n -= s[n - 1] == '/';
	if (n >= sizeof(name))
		return plat_fail(p, TALLY_EINVAL, "%s: unknown tunable '%.*s'", ret->pmu->name, (int)n, s);
	memcpy(name, s, n);
	rc = ptt_tune_find(name, &ret->tune, &e);
	return rc < 0 ? plat_fail(p, TALLY_EINVAL, "%s: %s", ret->pmu->name, e.text) : 0;
}

/* ---- get ------------------------------------------------------------------------------------- */

/* People read what `set` takes. */
static void get_put_assignment(struct an_emit *e, const struct an_rows *t, const struct an_cell *row)
{
	(void)t;
	buf_printf(e->to, "%s/%s=%llu\n", row[1].s, row[2].s, (unsigned long long)row[3].u);
}

static int get_tunables(struct tally_platform *p, const char *selector, size_t n, const void **kind)
{
	static const struct an_column col[] = {
		{ "type", "", AN_TEXT },   { "device", "", AN_TEXT }, { "name", "", AN_TEXT },
		{ "value", "", AN_COUNT }, { "text", "", AN_TEXT },
	};
	static const struct an_layout assignment = { .row = get_put_assignment };
	struct an_rows rows = { .col = col, .ncols = COUNT(col), .csv_skips = 1, .text = &assignment };
	struct pick s = { .pmu = NULL };
	int rc = get_pick_tunable(p, &s, selector, n);

	for (unsigned t = 0; rc >= 0 && t < PTT_TUNES; t++) {
		const struct ptt_tunable *is = &ptt_tunables[t];
		struct err e = { 0 };
		uint32_t value;

		if (!s.all && t != s.tune)
			continue;
		rc = p->ptt.op->tune_get(p->ptt.arg, s.device, (enum ptt_tune)t, &value, &e);
		if (rc < 0)
			(void)plat_fail(p, (enum tally_err) - rc, "%s/%s: %s", s.pmu->name, is->name,
					e.text[0] ? e.text : tally_strerror(rc));
		else
			an_rows_add(&rows, (struct an_cell[]){ AN_S("tunable"), AN_S(s.pmu->name), AN_S(is->name),
							       AN_U(value), AN_S(is->text) });
	}
	if (rc >= 0)
		(void)an_rows_put(&p->emit, &rows, *kind != col);
	*kind = col;
	an_rows_free(&rows);
	return rc;
}

int tally_get(struct tally_platform *p, const char *selector, const struct tally_out *to)
{
	struct tally_out o = { .size = 0 };
	const void *kind = NULL; /* of rows: what the last header was of */
	int rc;

	rc = plat_enter(p);
	if (rc >= 0)
		rc = plat_take(p, &o, sizeof(o), to);
	if (rc >= 0)
		rc = plat_emit_open(p, &o);
	for (size_t n; rc >= 0 && *selector; selector += n) {
		n = strcspn(selector, " ");
		if (n)
			rc = sel_provider(selector) != SEL_OTHER ? hv_get(p, selector, n, o.raw, &kind) :
								   get_tunables(p, selector, n, &kind);
		else
			n = 1;
	}
	return rc < 0 ? rc : plat_flush(p, &o);
}

/* ---- set ------------------------------------------------------------------------------------- */

/* What is above the most is made the most by the device: said, since nobody meant it. */
static void note_what_came(struct tally_platform *p, const struct pick *s, uint32_t value)
{
	const char *name = ptt_tunables[s->tune].name;
	struct err e = { 0 };
	uint32_t now;

	if (value > PTT_TUNE_MOST && p->ptt.op->tune_get(p->ptt.arg, s->device, s->tune, &now, &e) >= 0)
		plat_note(p, "%s/%s is now %u: values above %u become %u", s->pmu->name, name, now, PTT_TUNE_MOST,
			  PTT_TUNE_MOST);
	plat_note_not_kept(p);
}

static int set_pick(struct tally_platform *p, const struct pick *s, const char *text)
{
	struct err e = { 0 };
	uint32_t value;
	int rc = ptt_tune_parse(text, p->profile, &value, &e);

	if (rc >= 0)
		rc = p->ptt.op->tune_set(p->ptt.arg, s->device, s->tune, value, &e);
	if (rc < 0)
		return plat_fail(p, (enum tally_err) - rc, "%s/%s: %s", s->pmu->name, ptt_tunables[s->tune].name,
				 e.text[0] ? e.text : tally_strerror(rc));
	note_what_came(p, s, value);
	return 0;
}

int tally_set(struct tally_platform *p, const char *assignment)
{
	bool of_hypervisor = sel_provider(assignment) != SEL_OTHER;
	const char *is = of_hypervisor ? strrchr(assignment, '=') : strchr(assignment, '=');
	struct pick s = { .pmu = NULL };
	char value[64];
	size_t n;
	int rc = plat_enter(p);

	if (rc < 0)
		return rc;
	if (!is)
		return plat_fail(p, TALLY_EINVAL, "'%s': no value given; write SELECTOR=VALUE", assignment);
	n = strlen(is + 1);
	n -= n && is[n] == '/';
	if (n >= sizeof(value))
		return plat_fail(p, TALLY_EINVAL, "value too long: '%s'", is + 1);
	memcpy(value, is + 1, n);
	value[n] = '\0';
	if (of_hypervisor)
		return hv_set(p, assignment, (size_t)(is - assignment), value);
	rc = get_pick_tunable(p, &s, assignment, (size_t)(is - assignment));
	if (rc >= 0 && s.all)
		rc = plat_fail(p, TALLY_EINVAL, "'%s' names a device, not a tunable; 'tally get %s' shows its tunables",
			       assignment, s.pmu->name);
	return rc < 0 ? rc : set_pick(p, &s, value);
}
