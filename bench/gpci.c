/*
 * gpci: what a hypercall of POWER and a window of the machine model cost, inside one process.
 *
 *	gpci reply NUMBER [CORES]   "us per reply  records": a full block of the request, of load large, or a machine
 *	                                           of CORES cores
 *	gpci own NUMBER             "us per reply": the caller's own record, in the smallest block that holds it
 *	gpci run CORES PARTITIONS   "times as fast as real time  us per window"
 *	gpci load NAME              the same of a named load
 *
 * The best of ten rounds counts, in CPU time of the thread.
 */

#include "bench.h"
#include "machine/power.h"

enum { ROUNDS = 10, CALLS = 20000, WINDOWS = 200 };

static uint8_t memory[GPCI_MOST];
static volatile uint64_t sink;

/* ---- a guest's memory ------------------------------------------------------------------------------ */

static bool is(void *arg, uint64_t ra, uint64_t n)
{
	(void)arg;
	return ra <= sizeof(memory) && n <= sizeof(memory) - ra;
}

static int fetch(void *arg, uint64_t ra, void *to, size_t n)
{
	if (!is(arg, ra, n))
		return -1;
	memcpy(to, memory + ra, n);
	return 0;
}

static int store(void *arg, uint64_t ra, const void *from, size_t n)
{
	if (!is(arg, ra, n))
		return -1;
	memcpy(memory + ra, from, n);
	return 0;
}

static const struct hv_mem guest = { .is = is, .read = fetch, .write = store };

/* ---- machines ---------------------------------------------------------------------------------------- */

static struct power *machine(const char *load, const char *config)
{
	const struct power_opts o = {
		.level = 6, .load = load, .config = config, .config_bytes = config ? strlen(config) : 0
	};
	struct err e = { 0 };
	struct power *p;

	if (power_open(&p, &o, &e) < 0)
		fail(e.text);
	return p;
}

static size_t shared_line(char *to, uint32_t i, uint32_t hundredths)
{
	return (size_t)sprintf(
		to,
		"partition %u rights=all,expanded,lab vps=%u entitlement=%u weight=%u home=%u memory=16 demand=%u swing=200 "
		"period=%u snooze=100 ipc=5/4 traffic=4 idle=yes\n",
		i, i % 4 + 1, hundredths, i % 255 + 1, i % 20, 300 + i % 500, 10 + i % 50);
}

static size_t dedicated_line(char *to, uint32_t i)
{
	return (size_t)
		sprintf(to,
			"partition %u type=dedicated donate vps=1 home=%u demand=%u swing=200 period=%u traffic=4\n", i,
			i % 20, 300 + i % 500, 10 + i % 50);
}

/* Four nodes with five chips; partitions of one to four virtual processors with all that takes time, and as many
 * donating ones as a tenth of the cores. */
static struct power *large(uint32_t cores, uint32_t partitions)
{
	char *text = malloc(256 * (partitions + 1));
	uint32_t dedicated = cores / 10 < partitions ? cores / 10 : 0, shared = partitions - dedicated;
	uint32_t each = shared ? (cores - dedicated) * 90 / shared : 0;
	struct power *p;
	size_t n;

	if (!text || !cores || cores % 20 || cores > 480 || !each)
		fail("CORES is a multiple of 20, up to 480, for up to 1,024 PARTITIONS");
	n = (size_t)sprintf(text, "nodes 4\nchips 5\ncores %u\nmemory 4096\n", cores / 20);
	for (uint32_t i = 1; i <= partitions; i++)
		n += i > shared ? dedicated_line(text + n, i) : shared_line(text + n, i, each < 100 ? each : 100);
	p = machine(NULL, text);
	free(text);
	return p;
}

/* ---- replies --------------------------------------------------------------------------------------------- */

static void reply(struct power *p, const char *number, bool own)
{
	const struct gpci_request *r = gpci_request_find(number);
	const struct papr_opts o = { .level = 6, .ops = &power_ops, .arg = p };
	uint64_t size = r && own ? GPCI_HEADER + r->size : GPCI_MOST, x[3];
	double best = 1e9;
	struct papr *s;

	if (!r || papr_open(&s, &o) < 0)
		fail("there is no such request");
	power_run(p, 20 * (uint64_t)POWER_WINDOW);
	for (int round = 0; round <= ROUNDS; round++) {
		double from = seconds(CLOCK_THREAD_CPUTIME_ID), t;

		for (int i = 0; i < CALLS; i++) {
			gpci_ask(memory, GPCI_HEADER, r->number, own ? -1 : 0, 0, 8);
			x[0] = PAPR_GPCI;
			x[1] = 0;
			x[2] = size;
			papr_call(s, (struct papr_caller){ .partition = 1 }, &guest, x);
			sink += x[0];
		}
		t = (seconds(CLOCK_THREAD_CPUTIME_ID) - from) / CALLS * 1e6;
		best = least_of(best, t);
	}
	printf(own ? "%.3f\n" : "%.3f %u\n", best, memory[10] << 8 | memory[11]);
	papr_close(s);
	power_close(p);
}

/* ---- time ------------------------------------------------------------------------------------------------ */

static void run(struct power *p)
{
	double best = 1e9;

	for (int round = 0; round <= ROUNDS; round++) {
		double from = seconds(CLOCK_THREAD_CPUTIME_ID), t;

		power_run(p, power_now(p) + WINDOWS * (uint64_t)POWER_WINDOW);
		t = (seconds(CLOCK_THREAD_CPUTIME_ID) - from) / WINDOWS;
		best = least_of(best, t);
	}
	printf("%.1f %.2f\n", 0.01 / best, best * 1e6);
	power_close(p);
}

int main(int argc, char **argv)
{
	const char *verb = argc > 2 ? argv[1] : "";

	if (!strcmp(verb, "reply"))
		reply(argc > 3 ? large((uint32_t)atoi(argv[3]), 20) : machine("large", NULL), argv[2], false);
	else if (!strcmp(verb, "own"))
		reply(machine(NULL, NULL), argv[2], true);
	else if (!strcmp(verb, "run") && argc > 3)
		run(large((uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[3])));
	else if (!strcmp(verb, "load"))
		run(machine(argv[2], NULL));
	else
		fail("reply NUMBER [CORES] | own NUMBER | run CORES PARTITIONS | load NAME");
	return 0;
}
