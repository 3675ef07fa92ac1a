/*
 * kunpeng: packets that the model of a PCIe root complex makes in a second of CPU time.
 *
 *	kunpeng LOAD
 *
 * The best of ten rounds after one that warms up; prints millions a second.
 */

#include "bench.h"
#include "machine/machine.h"

enum { ROUNDS = 10, ROUND_NS = 10000000 };

static uint64_t packets(const struct kunpeng *k)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < kunpeng_ndevices(k); i++)
		for (unsigned c = 0; c < 8; c++)
			n += kunpeng_truth(k, i)->tlps[c / 4][c % 4];
	return n;
}

int main(int argc, char **argv)
{
	const struct kunpeng_opts o = { .load = argc > 1 ? argv[1] : "full" };
	struct kunpeng *k;
	struct err e = { 0 };
	double best = 0;

	if (kunpeng_open(&k, &o, &e) < 0) {
		fprintf(stderr, "kunpeng: %s\n", e.text);
		return 1;
	}
	for (uint64_t i = 0; i <= ROUNDS; i++) {
		uint64_t before = packets(k);
		double from = seconds(CLOCK_PROCESS_CPUTIME_ID);
		kunpeng_run(k, (i + 1) * ROUND_NS);
		double rate = (double)(packets(k) - before) / (seconds(CLOCK_PROCESS_CPUTIME_ID) - from) / 1e6;
		best = i > 0 && rate > best ? rate : best;
	}
	printf("%.2f\n", best);
	kunpeng_close(k);
	return 0;
}
