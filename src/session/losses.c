/*
 * losses.c: records and firings that a run lost.
 *
 * Drops are counted by the programs, per program and CPU, when a ring or a map had no room; they are reported as they
 * grow. Losses are computed: an event that was counted N times with a period of P should have fired N / P times. The
 * missing firings were throttled by the kernel, or came at a moment in which the kernel ran no programs; nothing else
 * counts them. Events with a frequency have no fixed period, so no loss is computed for them. Meanwhile the counts are
 * read first and the firings then, so a loss may be told late, and never too high.
 *
 * Drops are always reported. A service reports them seldom: it runs for ever and may lose records as long.
 *
 * A CPU has a line of its own if it lost 0.5 % of its firings or more, or 5 % or more if only three firings or fewer
 * were lost; with -v and in JSON every CPU has one.
 */
#include <stdio.h>
#include <stdlib.h>

#include "session/session_int.h"

#define SHARE_TOLD 0.005       /* the least part of its firings whose loss has a line of its own */
#define FEW_FIRINGS 3          /* so many are lost in most runs, however short: */
#define SHARE_OF_FEW_TOLD 0.05 /* of them it is this part */

/* Kinds of drops: member of struct img_drops, tag of -x droptags, words, what follows the plural, name in JSON. Those
 * of variables and speculations belong to all CPUs. */
/* clang-format off */
#define CPU_DROPS(X)                                                                               \
	X(records, "PRINCIPAL", "drop", "", "principal")                                           \
	X(aggs, "AGGREGATION", "aggregation drop", "", "aggregation")                              \
	X(stacks, "STKSTROVERFLOW", "stack drop", "", "stack")
#define ALL_DROPS(X)                                                                               \
	X(dynvars, "DYNAMIC", "dynamic variable drop", "", "dynamic")                              \
	X(slices, "SLICES", "time slice", " of threads lost to vcounter(): not every switch was seen", "slice") \
	X(waits, "WAITS", "wait", " for locks left out: their beginning could not be written down", "wait")          \
	X(spec_busy, "SPECBUSY", "failed speculation", " (available buffer(s) still busy)", "speculation_busy") \
	X(spec_unavailable, "SPECUNAVAIL", "failed speculation", " (no speculative buffer available)", "speculation_unavailable")
/* clang-format on */
#define ANY_CPU UINT32_MAX

static void drop_note(struct tally_trace *t, uint32_t cpu, uint64_t n, const char *tag, const char *words,
		      const char *more, const char *kind)
{
	static const struct an_column col[] = { { "kind", "", AN_TEXT },
						{ "cpu", "", AN_COUNT },
						{ "count", "", AN_COUNT } },
				      of_all[] = { { "kind", "", AN_TEXT }, { "count", "", AN_COUNT } };
	const struct an_cell cell[] = { AN_S(kind), AN_U(cpu), AN_U(n) }, all[] = { AN_S(kind), AN_U(n) };
	char on[24] = "";

	t->drops_told = true;
	if (cpu != ANY_CPU)
		snprintf(on, sizeof(on), " on CPU %u", cpu);
	an_event(&t->emit,
		 cpu == ANY_CPU ? &(struct an_event){ "drop", of_all, all, COUNT(of_all) } :
				  &(struct an_event){ "drop", col, cell, COUNT(col) },
		 "%s%s%s%llu %s%s%s%s", t->opt.v[OPT_droptags] ? "[DTRACEDROP_" : "", t->opt.v[OPT_droptags] ? tag : "",
		 t->opt.v[OPT_droptags] ? "] " : "", (unsigned long long)n, words, n == 1 ? "" : "s", more, on);
}

/* The drops of one program, for each CPU. */
static int read_drops(struct tally_trace *t, int map, uint32_t prog, struct img_drops *per_cpu)
{
	struct maps m = t->eng->ops->maps(t->eng);
	int rc = m.ops->lookup(m.maps, map, &prog, per_cpu);

	static_assert(sizeof(*per_cpu) % 8 == 0, "CPUs' values lie side by side");
	return rc == -TALLY_EEND ? 0 : rc;
}

static void drops_report_cpus(struct tally_trace *t, const struct img_drops *now, uint32_t ncpus)
{
	struct img_drops all = { 0 };

	for (uint32_t cpu = 0; cpu < ncpus; cpu++) {
		struct img_drops *was = &t->drops[cpu];

#define X(member, tag, words, more, kind)                        \
	if (now[cpu].member > was->member && !t->drops_every_ns) \
		drop_note(t, cpu, now[cpu].member - was->member, tag, words, more, kind);
		CPU_DROPS(X)
#undef X
#define X(member, tag, words, more, kind) all.member += now[cpu].member - was->member;
		CPU_DROPS(X)
		ALL_DROPS(X)
#undef X
		*was = now[cpu];
	}
#define X(member, tag, words, more, kind) \
	if (all.member)                   \
		drop_note(t, ANY_CPU, all.member, tag, words, more, kind);
	if (t->drops_every_ns) {
		CPU_DROPS(X)
	}
	ALL_DROPS(X)
#undef X
	if (t->spec_drops > t->spec_drops_told)
		drop_note(t, ANY_CPU, t->spec_drops - t->spec_drops_told, "SPEC", "speculative drop", "",
			  "speculative");
	t->spec_drops_told = t->spec_drops;
}

struct drops_reading {
	struct img_drops *sum;
	uint32_t ncpus;
};

static int drops_add(void *arg, const void *key, const void *value)
{
	const struct drops_reading *r = arg;
	const struct img_drops *one = value;

	(void)key;
	for (uint32_t cpu = 0; cpu < r->ncpus; cpu++) {
#define X(member, tag, words, more, kind) r->sum[cpu].member += one[cpu].member;
		CPU_DROPS(X)
		ALL_DROPS(X)
#undef X
		r->sum[cpu].firings += one[cpu].firings;
	}
	return 0;
}

/* The drops and firings of all programs, for each of ncpus CPUs; from mem_alloc. */
static int drops_sum(struct tally_trace *t, int map, uint32_t ncpus, struct img_drops **ret)
{
	struct img_drops *sum = mem_alloc((2ull * ncpus + 1) * sizeof(*sum)), *one = sum ? sum + ncpus : NULL;
	struct drops_reading r = { sum, ncpus };
	struct maps m = t->eng->ops->maps(t->eng);
	int rc = sum ? maps_walk(&m, (uint32_t)map, drops_add, &r) : -TALLY_ENOMEM;

	if (rc == -TALLY_ENOTSUP) {
		rc = 0;
		for (uint32_t p = 0; rc >= 0 && p < t->img->map[map].max_entries; p++) {
			rc = read_drops(t, map, p, one);
			if (rc >= 0)
				rc = drops_add(&r, &p, one);
		}
	}
	if (rc < 0) {
		mem_free(sum);
		return trace_fail(t, -rc, "failed to read drops: %s", tally_strerror(rc));
	}
	sum[0].waits += t->eng->k ? k_waits_missed(t->eng->k) : 0;
	*ret = sum;
	return 0;
}

int drops_report(struct tally_trace *t)
{
	uint32_t ncpus = t->eng->ops->maps(t->eng).ncpus;
	struct img_drops *sum;
	int rc, map = image_map(t, IMG_DROPS, 0);

	if (map < 0)
		return 0;
	if (!t->drops)
		t->drops = mem_alloc((ncpus + 1) * sizeof(*t->drops));
	if (!t->drops)
		return trace_nomem(t);
	rc = drops_sum(t, map, ncpus, &sum);
	if (rc < 0)
		return rc;
	drops_report_cpus(t, sum, ncpus);
	mem_free(sum);
	return 0;
}

int drops_report_due(struct tally_trace *t, uint64_t now_ns)
{
	int rc;

	if (now_ns < t->drops_ns)
		return 0;
	t->drops_told = false;
	rc = drops_report(t);
	if (t->drops_told)
		t->drops_ns = now_ns + t->drops_every_ns;
	return rc;
}

void session_tell_drops_seldom(struct tally_trace *t, uint64_t every_ns)
{
	t->drops_every_ns = every_ns;
}

/* Tracepoints that were reached while their own program ran: an interrupt came in its midst. */
static uint64_t misses_of(const struct tally_trace *t, uint32_t prog)
{
	return t->img->prog[prog].cls == IMG_POINT ? k_missed(t->eng->k, prog) : 0;
}

static uint64_t misses_sum(const struct tally_trace *t)
{
	uint64_t n = 0;

	for (uint32_t i = 0; t->eng->k && i < t->img->nprogs; i++)
		n += misses_of(t, i);
	return n;
}

int drops_each(struct tally_trace *t, int (*each)(void *arg, const char *kind, uint64_t count), void *arg)
{
	const uint32_t ncpus = t->eng->ops->maps(t->eng).ncpus;
	const int map = image_map(t, IMG_DROPS, 0);
	struct img_drops *sum = NULL, all = { 0 };
	int rc = map < 0 ? 0 : drops_sum(t, map, ncpus, &sum);

	for (uint32_t cpu = 0; sum && cpu < ncpus; cpu++) {
#define X(member, tag, words, more, kind) all.member += sum[cpu].member;
		CPU_DROPS(X)
		ALL_DROPS(X)
#undef X
		all.firings += sum[cpu].firings;
	}
	mem_free(sum);
#define X(member, tag, words, more, kind) rc = rc < 0 ? rc : each(arg, kind, all.member);
	CPU_DROPS(X)
	ALL_DROPS(X)
#undef X
	rc = rc < 0 ? rc : each(arg, "speculative", t->spec_drops);
	rc = rc < 0 ? rc : each(arg, "recursion", misses_sum(t));
	rc = rc < 0 ? rc : each(arg, "tick", t->late_ticks);
	rc = rc < 0 ? rc : each(arg, "firings", all.firings);
	return rc < 0 ? rc : 0;
}

/* ---- losses ------------------------------------------------------------------------ */

static bool can_tell(const struct probe *p)
{
	for (uint32_t i = 0; i < p->nevents; i++)
		if (p->event[i].uncounted)
			return false;
	return true;
}

/* What was lost of a probe on a CPU so far. Each reading asks in the same order, so the search begins behind the
 * last. */
static struct lost *lost_find(struct tally_trace *t, const struct probe *p, uint32_t cpu)
{
	for (uint32_t i = 0; i < t->nlost; i++) {
		struct lost *l = &t->lost[(t->ilost + i) % t->nlost];

		if (l->probe == p && l->cpu == cpu) {
			t->ilost = (uint32_t)(l - t->lost) + 1;
			return l;
		}
	}
	return NULL;
}

/* Expected firings of a probe on a CPU: several events may lead to it (hybrid CPUs). */
int losses_add(struct tally_trace *t, const struct probe *p, const struct k_account *a, uint32_t n,
	       const struct img_drops *fired, uint32_t ncpus)
{
	if (!can_tell(p))
		return 0;
	for (uint32_t cpu = 0; cpu < ncpus; cpu++) {
		struct lost l = { .probe = p, .cpu = cpu, .firings = fired[cpu].firings };
		uint64_t expected = 0;
		struct lost *to;

		for (uint32_t i = 0; i < n; i++)
			if (a[i].cpu == cpu && a[i].period) {
				l.counted += a[i].counted;
				l.period = a[i].period;
				expected += a[i].counted / a[i].period;
			}
		if (!l.period)
			continue;
		l.lost = expected > l.firings ? expected - l.firings : 0;
		to = lost_find(t, p, cpu);
		if (to && to->lost > l.lost) /* what fired since it was counted may hide a loss for a while */
			l.lost = to->lost;
		if (!to)
			to = VEC_NEW(t->lost, t->nlost, t->caplost);
		if (!to)
			return -TALLY_ENOMEM;
		*to = l;
	}
	return 0;
}

static int by_prog(const void *x, const void *y)
{
	const struct k_account *a = x, *b = y;

	return a->prog < b->prog ? -1 : a->prog > b->prog;
}

int losses_take(struct tally_trace *t)
{
	int map = image_map(t, IMG_DROPS, 0), rc;
	struct k_account *a = NULL;
	struct img_drops *fired;
	uint32_t n = 0, ncpus = t->eng->ops->maps(t->eng).ncpus;

	if (!t->eng->k || map < 0)
		return 0;
	rc = k_accounts(t->eng->k, &a, &n, &t->err);
	fired = mem_alloc((ncpus + 1) * sizeof(*fired));
	if (!fired)
		rc = -TALLY_ENOMEM;
	if (rc >= 0 && n)
		qsort(a, n, sizeof(*a), by_prog);
	for (uint32_t i = 0, end; rc >= 0 && i < n; i = end) {
		for (end = i; end < n && a[end].prog == a[i].prog;)
			end++;
		rc = read_drops(t, map, a[i].prog, fired);
		if (rc >= 0)
			rc = losses_add(t, probes_get(t->probes, t->img->prog[a[i].prog].probe), a + i, end - i, fired,
					ncpus);
	}
	mem_free(a);
	mem_free(fired);
	return rc < 0 ? trace_fail(t, -rc, "failed to read the counts: %s", tally_strerror(rc)) : 0;
}

static void report_nameless(struct tally_trace *t, uint64_t n, const char *kind, const char *why)
{
	static const struct an_column col[] = { { "kind", "", AN_TEXT }, { "count", "", AN_COUNT } };

	if (n)
		an_event(&t->emit,
			 &(struct an_event){ "drop", col, (struct an_cell[]){ AN_S(kind), AN_U(n) }, COUNT(col) },
			 "%llu user address%s without a name: %s", (unsigned long long)n, n == 1 ? "" : "es", why);
}

/* Whether user addresses have no generation that should have one: integers of keys never do. */
static bool mappings_untold(const struct tally_trace *t)
{
	return t->eng && t->eng->k && t->prog->uses_user_symbols && !t->watched_ns &&
	       (!k_tells_types() || image_map(t, IMG_GENERATIONS, 0) >= 0);
}

void mappings_report(struct tally_trace *t)
{
	if (!t->sym)
		return;
	if (mappings_untold(t))
		trace_note(t,
			   "user addresses have the names of what was mapped when they were looked up: this kernel "
			   "does not tell when code is unmapped (that needs its BTF and the tracepoints of mmap_lock)");
	report_nameless(t, sym_gone(t->sym), "mapping", "the mapping was gone before it could be seen");
	report_nameless(t, sym_forgotten(t->sym), "forgotten",
			"the mapping was seen, but so many came and went since that it is no longer kept");
	report_nameless(t, sym_unread(t->sym), "file", "the file was changed or removed before it could be read");
	report_nameless(t, sym_unreached(t->sym), "unreached",
			"the process ended before the file could be reached under its root directory");
	report_nameless(t, sym_overfull(t->sym), "names",
			"the file has more functions, or names of them, than are kept");
	report_nameless(t, sym_ambiguous(t->sym), "perfmap",
			"the perf map or jitdump gives it several names, or is of several processes");
}

static double loss_share(const struct lost *l)
{
	return (double)l->lost / ((double)l->lost + (double)l->firings);
}

static void report_loss(struct tally_trace *t, const struct lost *l)
{
	static const struct an_column col[] = {
		{ "probe", "", AN_TEXT },    { "cpu", "", AN_COUNT },     { "counted", "", AN_COUNT },
		{ "period", "", AN_COUNT },  { "firings", "", AN_COUNT }, { "lost", "", AN_COUNT },
		{ "share", "", AN_LITERAL },
	};
	const double share = loss_share(l);
	struct buf probe = { 0 };
	char digits[32];

	probe_text(&probe, l->probe);
	t->out.failed |= probe.failed;
	snprintf(digits, sizeof(digits), "%.6g", share);
	an_event(&t->emit,
		 &(struct an_event){ "loss", col,
				     (struct an_cell[]){ AN_S(probe.p), AN_U(l->cpu), AN_U(l->counted), AN_U(l->period),
							 AN_U(l->firings), AN_U(l->lost), AN_S(digits) },
				     COUNT(col) },
		 "%llu of %llu firings of %s lost on CPU %u: %.*f %%%s", (unsigned long long)l->lost,
		 (unsigned long long)(l->lost + l->firings), l->probe->name, l->cpu, share < 0.01 ? 2 : 1, 100 * share,
		 l->firings ? "" : " (the kernel sent none from there)");
	buf_free(&probe);
}

static void misses_report(struct tally_trace *t)
{
	static const struct an_column col[] = { { "kind", "", AN_TEXT },
						{ "probe", "", AN_TEXT },
						{ "count", "", AN_COUNT } };

	for (uint32_t i = 0; t->eng && t->eng->k && i < t->img->nprogs; i++) {
		const uint64_t n = misses_of(t, i);
		struct buf probe = { 0 };

		if (!n)
			continue;
		probe_text(&probe, probes_get(t->probes, t->img->prog[i].probe));
		t->out.failed |= probe.failed;
		an_event(&t->emit,
			 &(struct an_event){ "drop", col,
					     (struct an_cell[]){ AN_S("recursion"), AN_S(probe.p), AN_U(n) },
					     COUNT(col) },
			 "%llu firing%s of %s lost: the probe's program was running on that CPU", (unsigned long long)n,
			 n == 1 ? "" : "s", probe.p ? probe.p : "");
		buf_free(&probe);
	}
}

/* A few firings are missing on most CPUs of most runs: in lines of their own they would hide the losses that change an
 * answer. */
void losses_report(struct tally_trace *t)
{
	const bool all = t->emit.ops->programs || t->o.flags & TALLY_TRACE_VERBOSE;
	uint64_t few = 0;

	misses_report(t);
	for (uint32_t i = 0; i < t->nlost; i++) {
		const struct lost *l = &t->lost[i];

		if (l->lost && (all || loss_share(l) >= (l->lost > FEW_FIRINGS ? SHARE_TOLD : SHARE_OF_FEW_TOLD)))
			report_loss(t, l);
		else
			few += l->lost;
	}
	if (few && !is_quiet(t))
		trace_note(t,
			   "%llu firing%s lost in small numbers on each CPU (less than %g "
			   "%% of a probe's, or up to %d and less than %g %%); -v shows where",
			   (unsigned long long)few, few == 1 ? "" : "s", 100 * SHARE_TOLD, FEW_FIRINGS,
			   100 * SHARE_OF_FEW_TOLD);
}
