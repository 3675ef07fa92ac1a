/*
 * sun4v_rights.c: what a guest may do with performance registers, as text.
 *
 * Two forms: LDoms' property, "perf-counters=global,htstrand" (the words alone
 * will do), where strand and htstrand exclude each other and nothing means no access; and
 * the machine description's "perfctraccess=1,perfctrhtaccess=0".
 */
#include "hv/sun4v.h"

struct word {
	const char *text;
	struct sun4v_rights adds;
};
static const struct word words[] = {
	{ "global", { .perf = true, .global = true } },
	{ "strand", { .perf = true, .strand = true } },
	{ "htstrand", { .perf = true, .strand = true, .ht = true } },
	{ "none", { .perf = false } },
	{ "all", { .perf = true, .strand = true, .global = true, .ht = true } },
	{ "perfctraccess=0", { .perf = false } },
	{ "perfctraccess=1", { .perf = true, .strand = true, .global = true } },
	{ "perfctrhtaccess=0", { .perf = false } },
	{ "perfctrhtaccess=1", { .ht = true } },
};

static const struct word *word_of(const char *p, size_t n)
{
	for (size_t i = 0; i < COUNT(words); i++)
		if (strlen(words[i].text) == n && !memcmp(words[i].text, p, n))
			return &words[i];
	return NULL;
}

int sun4v_rights_parse(struct sun4v_rights *ret, const char *text, struct err *e)
{
	static const char property[] = "perf-counters=";
	struct sun4v_rights r = { 0 };
	bool strand = false, htstrand = false;

	if (!strncmp(text, property, sizeof(property) - 1))
		text += sizeof(property) - 1;
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, ",+");
		const struct word *w = word_of(p, n);

		if (!w)
			return err_set(e, TALLY_EINVAL,
				       "rights: invalid value '%.*s' (expected global, strand, htstrand, all, none, "
				       "perfctraccess=0|1, perfctrhtaccess=0|1)",
				       (int)n, p);
		strand |= w == &words[1];
		htstrand |= w == &words[2];
		r.perf |= w->adds.perf;
		r.strand |= w->adds.strand;
		r.global |= w->adds.global;
		r.ht |= w->adds.ht;
		p += n + (p[n] != '\0');
	}
	if (strand && htstrand)
		return err_set(e, TALLY_EINVAL,
			       "rights: strand and htstrand exclude each other: htstrand is strand with HT");
	*ret = r;
	return 0;
}
