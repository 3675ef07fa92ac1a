/*
 * mmustat.c: probes that fire for the MMU statistics of UltraSPARC T1 (mmustat.txt).
 *
 *	mmustat:::sample-INTERVAL   every slot of every strand's statistics
 */
#include <string.h>

#include "provider/hv_record.h"
#include "provider/provider_int.h"

#define FIELD(member, ctype)                                              \
	{                                                                 \
#member, ctype, offsetof(struct mmustat_context, member), \
			sizeof(((struct mmustat_context *)0)->member)     \
	}
static const struct d_field mmustat_members[] = {
	FIELD(ns, "uint64_t"),     FIELD(cpu, "uint64_t"),     FIELD(size, "string"),   FIELD(bytes, "uint64_t"),
	FIELD(context, "string"),  FIELD(side, "string"),      FIELD(hits, "uint64_t"), FIELD(ticks, "uint64_t"),
	FIELD(d_hits, "uint64_t"), FIELD(d_ticks, "uint64_t"),
};
#undef FIELD
static const struct d_args mmustat_args = { .name = "struct mmustat_slot",
					    .field = mmustat_members,
					    .nfields = COUNT(mmustat_members),
					    .base = 0,
					    .size = sizeof(struct mmustat_context) };

static int mmustat_name(struct probes *t, const char *name, int (*add)(void *arg, uint32_t id), void *arg,
			struct err *why)
{
	struct sun4v_client *c = t->opts.sun4v;
	static const char *const sample = "sample";
	char word[SAMPLE_WORD];
	const char *text;
	struct probe *p;
	uint64_t ns;
	bool cut = sample_cut_interval(name, word, &text);
	int rc;

	if (!cut || strcmp(word, sample))
		return text_nearest(cut ? word : name, TEXT_NAMES(&sample, 1)) ? sample_no_interval(name, sample, why) :
										 0;
	if (!c)
		return sample_no_platform(t, &prov_mmustat, name, why);
	rc = prov_interval(text, &ns, why);
	if (rc >= 0)
		rc = mmustat_start(c, sun4v_client_home(c), why);
	if (rc < 0)
		return rc;
	(void)mmustat_stop(c, sun4v_client_home(c), why);
	p = sample_make_probe(t, &prov_mmustat, name, ns, why);
	if (p)
		p->source = "MMU statistics of each strand";
	return sample_added(p, add, arg);
}

static int mmustat_offer(struct probes *t, struct err *e)
{
	return t->opts.sun4v ? sample_offer(t, &prov_mmustat, "sample", e) : 0;
}

static int mmustat_why_none(const struct probes *t, const struct d_probedesc *d, struct err *why)
{
	(void)d;
	return sample_why_none(&prov_mmustat, t->opts.sun4v, why);
}

static const struct d_args *mmustat_args_of(const struct probe *p, uint32_t index)
{
	(void)p;
	return index ? NULL : &mmustat_args;
}

/* ---- readings ------------------------------------------------------------------------------------ */

/* 0: that strand is another guest's; 1. */
static int mmustat_read_strand(struct sun4v_client *c, uint32_t cpu, struct mmustat *ret, struct err *e)
{
	struct err mine = { 0 };
	int rc = mmustat_read(c, cpu, ret, &mine);

	if (rc == -TALLY_ESTATE)
		return 0;
	return rc < 0 ? err_set(e, (enum tally_err) - rc, "%s", mine.text) : 1;
}

static int mmustat_begin(struct sample *s, struct err *e)
{
	struct prov_reader *reader = s->reader;
	const uint32_t strands = reader->transport->strands;
	struct mmustat *last = mem_alloc(strands * sizeof(*last));
	int rc = 0;

	s->last = last;
	if (!last)
		return err_oom(e);
	for (uint32_t cpu = 0; !reader->mmu_buffers && rc >= 0 && cpu < strands; cpu++)
		if (sun4v_client_has(reader->sun4v, cpu))
			rc = mmustat_start(reader->sun4v, cpu, e);
	reader->mmu_buffers = rc >= 0;
	for (uint32_t cpu = 0; rc >= 0 && cpu < strands; cpu++)
		rc = mmustat_read_strand(reader->sun4v, cpu, &last[cpu], e);
	return rc < 0 ? rc : 0;
}

static int mmustat_fire(struct sample *s, uint64_t ns, struct err *e)
{
	struct prov_reader *reader = s->reader;
	struct mmustat_context c = { 0 };
	struct mmustat *last = s->last, now;
	int rc = 0;

	for (uint32_t cpu = 0; rc >= 0 && cpu < reader->transport->strands; cpu++) {
		rc = mmustat_read_strand(reader->sun4v, cpu, &now, e);
		if (rc <= 0)
			continue;
		for (uint32_t slot = 0; rc >= 0 && slot < MMUSTAT_SLOTS; slot++) {
			mmustat_context_fill(&c, slot, ns, cpu, &now, &last[cpu]);
			rc = reader->take(reader->arg, s->prog, &c, sizeof(c));
		}
		last[cpu] = now;
	}
	return rc;
}

static void mmustat_end(struct sample *s)
{
	mem_free(s->last);
	s->last = NULL;
}

const struct provider prov_mmustat = {
	.name = "mmustat",
	.help = "MMU statistics of UltraSPARC T1: TSB hits by page size and context",
	.model = "niagara",
	PROV_EVOLVING(DEP_PLATFORM),
	.name_probe = mmustat_name,
	.offer = mmustat_offer,
	.why_none = mmustat_why_none,
	.args_of = mmustat_args_of,
	.begin = mmustat_begin,
	.fire = mmustat_fire,
	.end = mmustat_end,
};
