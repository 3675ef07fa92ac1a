/*
 * sun4v: what a hypercall, a statistics update and a reference of the machine model cost, inside one process.
 *
 *	sun4v get|set REGISTER                "ns per call, ns per call of the slower of two threads at once": each has
 *	                                      a node's strand and, of registers that nodes have, its own node's
 *	sun4v mmustat                         "ns per update  ns of the same with plain increments"
 *	sun4v load NAME [MACHINE]             "million references/s" of a named load
 *	sun4v trace FILE                      the same of a lackey trace, text and all; then without the reading
 *
 * The best of many short rounds counts, in CPU time of the thread.
 */
#include <pthread.h>

#include "bench.h"
#include "hv/vf_reg_find.h"
#include "machine/niagara_trace.h"
#include "machine/niagara.h"

enum { ROUNDS = 200, CALLS = 100000, LOAD_ROUNDS = 10, TRACE_ROUNDS = 3, THREADS = 2 };

static volatile uint64_t sink;

static struct niagara *machine(const char *name, const char *load)
{
	struct err e = { 0 };
	struct niagara *n;

	if (!sun4v_kind(name, 0) ||
	    niagara_open(&n, sun4v_kind(name, 0), &(struct niagara_opts){ .load = load }, &e) < 0)
		fail(e.code ? e.text : "no such machine");
	return n;
}

/* ---- registers -------------------------------------------------------------------------------------- */

struct caller {
	struct sun4v_vcpu *v;
	uint64_t reg;
	bool set, alone_too;
	pthread_barrier_t *together;
	double alone, both;
};

static double calls(const struct caller *c)
{
	double from = seconds(CLOCK_THREAD_CPUTIME_ID);

	for (uint64_t i = 0; i < CALLS; i++) {
		uint64_t o[6] = { c->reg, i, 0, 0, 0, c->set ? SUN4V_SET_PERFREG : SUN4V_GET_PERFREG };

		sun4v_call(c->v, HV_FAST_TRAP, o);
		if (o[0] != HV_EOK)
			fail("the call was refused");
	}
	return seconds(CLOCK_THREAD_CPUTIME_ID) - from;
}

/* Alone and together in turn, so that what disturbs meets both. */
static void *caller(void *arg)
{
	struct caller *c = arg;

	c->alone = c->both = 1e9;
	for (int round = 0; round < ROUNDS; round++) {
		double s = c->alone_too ? calls(c) : 1e9;

		c->alone = least_of(c->alone, s);
		pthread_barrier_wait(c->together);
		s = calls(c);
		c->both = least_of(c->both, s);
		pthread_barrier_wait(c->together);
	}
	return NULL;
}

/* The same register of another node. */
static uint64_t beside(const struct vf_reg *r, uint64_t node)
{
	return r->cls == VF_MCU_PCR || r->cls == VF_MCU_PIC ? r->number + 4 * node :
	       r->cls >= VF_ZAM_PCR                         ? r->number + 18 * node :
							      r->number;
}

static void registers(bool set, const char *name)
{
	const struct vf_reg *r = vf_reg_find(name);
	const struct sun4v_opts o = { .kind = sun4v_kind("batoka", 0),
				      .ops = &niagara_ops,
				      .arg = machine("batoka", NULL) };
	const struct sun4v_guest_opts go = { .rights = { true, true, true, true } };
	struct caller c[THREADS] = { 0 };
	pthread_barrier_t together;
	struct sun4v *s;
	struct sun4v_guest *g;
	pthread_t other;

	if (!r || sun4v_open(&s, &o) < 0 || sun4v_guest_open(&g, s, &go) < 0 ||
	    pthread_barrier_init(&together, NULL, THREADS))
		fail("no such register, or no memory");
	for (uint32_t i = 0; i < THREADS; i++) {
		uint64_t version[6] = { SUN4V_GROUP_VFALLS, 1, 1, 0, 0, SUN4V_API_SET_VERSION };

		c[i] = (struct caller){ .reg = beside(r, i), .set = set, .alone_too = !i, .together = &together };
		if (sun4v_vcpu_open(&c[i].v, g, i * 64) < 0)
			fail("no memory");
		sun4v_call(c[i].v, HV_CORE_TRAP, version);
	}
	if (pthread_create(&other, NULL, caller, &c[1]) != 0)
		fail("thread");
	caller(&c[0]);
	pthread_join(other, NULL);
	printf("%.2f %.2f\n", c[0].alone / CALLS * 1e9, (c[0].both > c[1].both ? c[0].both : c[1].both) / CALLS * 1e9);
	sun4v_guest_close(g);
	sun4v_close(s);
	niagara_close(o.arg);
}

/* ---- MMU statistics ---------------------------------------------------------------------------------- */

static uint64_t buffer[MMUSTAT_BYTES / 8] __attribute__((aligned(64)));
static uint8_t which[4096]; /* bit 3: data, 2: context, 1:0 the page size; in no order */

static void *at(void *arg, uint64_t ra, size_t n)
{
	(void)arg;
	return ra == 64 && n <= sizeof(buffer) ? buffer : NULL;
}

static double updates(struct sun4v_vcpu *v)
{
	double from = seconds(CLOCK_THREAD_CPUTIME_ID);

	for (uint32_t i = 0; i < CALLS; i++) {
		uint32_t w = which[i % sizeof(which)];

		sun4v_tsb_hit(v, w >> 3, w >> 2 & 1, w & 3, 6);
	}
	return seconds(CLOCK_THREAD_CPUTIME_ID) - from;
}

static volatile uint64_t unknown = 6; /* to the compiler, which could make it a constant of plain() */

/* What a program that keeps the same statistics for itself would do. */
struct own {
	uint64_t hits, ticks;
};

static __attribute__((noinline)) void plain(struct own own[2][2][MMUSTAT_SIZES], bool data, bool context, uint32_t size,
					    uint64_t ticks)
{
	struct own *o = &own[data][context][size];

	o->hits++;
	o->ticks += ticks;
}

static double increments(void)
{
	static struct own own[2][2][MMUSTAT_SIZES];
	const uint64_t ticks = unknown;
	double from = seconds(CLOCK_THREAD_CPUTIME_ID);

	for (uint32_t i = 0; i < CALLS; i++) {
		uint32_t w = which[i % sizeof(which)];

		plain(own, w >> 3, w >> 2 & 1, w & 3, ticks);
	}
	sink += own[0][0][0].hits;
	return seconds(CLOCK_THREAD_CPUTIME_ID) - from;
}

static void mmustat(void)
{
	const struct sun4v_opts o = { .kind = sun4v_kind("niagara", 0),
				      .ops = &niagara_ops,
				      .arg = machine("niagara", NULL) };
	const struct sun4v_guest_opts go = { .mem = { .at = at } };
	uint64_t version[6] = { SUN4V_GROUP_NIAGARA, 1, 0, 0, 0, SUN4V_API_SET_VERSION },
		 conf[6] = { 64, 0, 0, 0, 0, SUN4V_MMUSTAT_CONF };
	double update = 1e9, increment = 1e9;
	struct sun4v *s;
	struct sun4v_guest *g;
	struct sun4v_vcpu *v;
	uint32_t rng = 1;

	if (sun4v_open(&s, &o) < 0 || sun4v_guest_open(&g, s, &go) < 0 || sun4v_vcpu_open(&v, g, 0) < 0)
		fail("no memory");
	sun4v_call(v, HV_CORE_TRAP, version);
	sun4v_call(v, HV_FAST_TRAP, conf);
	if (conf[0] != HV_EOK)
		fail("no buffer");
	for (size_t i = 0; i < sizeof(which); i++)
		which[i] = (rng = rng * 1664525 + 1013904223) >> 28;
	for (int round = 0; round <= ROUNDS; round++) {
		double u = updates(v), p = increments();

		update = round && u < update ? u : update;
		increment = round && p < increment ? p : increment;
	}
	sink += buffer[0];
	printf("%.2f %.2f\n", update / CALLS * 1e9, increment / CALLS * 1e9);
	sun4v_guest_close(g);
	sun4v_close(s);
	niagara_close(o.arg);
}

/* ---- references ------------------------------------------------------------------------------------------ */

static uint64_t references(const struct niagara *n)
{
	const uint64_t *r = niagara_truth(n)->refs;

	return r[0] + r[1] + r[2] + r[3];
}

static void load(const char *name, const char *kind)
{
	struct niagara *n = machine(kind, name);
	double best = 0;

	for (int round = 0; round <= LOAD_ROUNDS; round++) {
		const uint64_t was = references(n);
		double from = seconds(CLOCK_THREAD_CPUTIME_ID), rate;

		while (seconds(CLOCK_THREAD_CPUTIME_ID) - from < 0.2)
			niagara_run(n, niagara_now(n) + 100000);
		rate = (double)(references(n) - was) / (seconds(CLOCK_THREAD_CPUTIME_ID) - from);
		best = round && rate > best ? rate : best;
	}
	printf("%.1f\n", best / 1e6);
	niagara_close(n);
}

static char *whole(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	char *p;
	long size;

	if (!f || fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) <= 0 || !(p = malloc((size_t)size)))
		fail(path);
	rewind(f);
	*n = fread(p, 1, (size_t)size, f);
	fclose(f);
	return p;
}

/* The references of a lackey trace as an emulator would hand them over. */
static size_t parse(const char *p, const char *end, struct niagara_ref *to, size_t most)
{
	size_t n = 0;

	for (const char *nl; p < end && n + 2 <= most && (nl = memchr(p, '\n', (size_t)(end - p))); p = nl + 1) {
		struct niagara_ref r = { .context = 1, .va = strtoull(nl - p > 3 ? p + 3 : p, NULL, 16) };
		bool fetch = *p == 'I';

		if (!fetch && (*p != ' ' || !strchr("LSM", p[1])))
			continue;
		r.kind = fetch ? NIAGARA_FETCH : p[1] == 'S' ? NIAGARA_STORE : NIAGARA_LOAD;
		r.instructions = fetch;
		to[n++] = r;
		if (!fetch && p[1] == 'M') {
			r.kind = NIAGARA_STORE;
			to[n++] = r;
		}
	}
	return n;
}

static void trace(const char *path)
{
	size_t bytes, count;
	char *p = whole(path, &bytes);
	struct niagara_ref *r = calloc(bytes / 4 + 2, sizeof(*r));
	double text = 0, bare = 0;

	if (!r)
		fail("no memory");
	count = parse(p, p + bytes, r, bytes / 4 + 2);
	for (int round = 0; round < TRACE_ROUNDS; round++) {
		struct niagara *n = machine("batoka", NULL), *m = machine("batoka", NULL);
		struct niagara_reader reader = { .format = NIAGARA_LACKEY };
		double from = seconds(CLOCK_THREAD_CPUTIME_ID), rate;

		niagara_read(&reader, n, p, bytes);
		rate = (double)references(n) / (seconds(CLOCK_THREAD_CPUTIME_ID) - from);
		text = most_of(text, rate);
		from = seconds(CLOCK_THREAD_CPUTIME_ID);
		niagara_refs(m, r, count);
		rate = (double)count / (seconds(CLOCK_THREAD_CPUTIME_ID) - from);
		bare = most_of(bare, rate);
		niagara_close(n);
		niagara_close(m);
	}
	printf("%.1f %.1f\n", text / 1e6, bare / 1e6);
	free(r);
	free(p);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (argc == 3 && (!strcmp(what, "get") || !strcmp(what, "set")))
		registers(*what == 's', argv[2]);
	else if (!strcmp(what, "mmustat"))
		mmustat();
	else if (argc >= 3 && !strcmp(what, "load"))
		load(argv[2], argc > 3 ? argv[3] : "batoka");
	else if (argc == 3 && !strcmp(what, "trace"))
		trace(argv[2]);
	else
		return 2;
	return 0;
}
