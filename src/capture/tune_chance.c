/*
 * tune_chance.c: the randomization test that decides whether a setting is better than its reference.
 *
 * Both are measured in blocks: TUNE_LOTS measurements of each, in random order.  Each measurement of the setting is
 * compared with each one of the reference in its block; the statistic is the number of comparisons that the setting
 * wins.  If the setting has no effect (the null hypothesis), any other order of the block would have given the same
 * measurements, and all orders were equally probable.  So the p-value is the share of orders with as many wins.  It is
 * exact for any distribution, with drift and with bursts.  Nobody wins a tie, which makes the test stricter.
 *
 * A run may test many settings, and each several times (looks), so the run's error bound is divided: the k-th setting
 * gets 1 / (k (k + 1)) of it, which adds up to no more than 1, and each look at it an equal part of that.
 */
#include "capture/tune_int.h"

#define PAIRS (TUNE_LOTS * TUNE_LOTS) /* comparisons of a block */

double tune_chance(uint32_t blocks, uint32_t wins)
{
	/* In how many of the 70 orders of a block the setting wins so many comparisons. */
	static const uint8_t ways[PAIRS + 1] = { 1, 1, 2, 3, 5, 5, 7, 7, 8, 7, 7, 5, 5, 3, 2, 1, 1 };
	double share[TUNE_BLOCKS * PAIRS + 1] = { 1 }, sum = 0;

	static_assert(TUNE_LOTS == 4, "the table is that of four and four");
	for (uint32_t b = 0; b < blocks; b++)
		for (uint32_t i = (b + 1) * PAIRS + 1; i-- > 0;) {
			double here = 0;

			for (uint32_t k = 0; k <= PAIRS && k <= i; k++)
				here += share[i - k] * ways[k];
			share[i] = here / 70;
		}
	for (uint32_t i = wins; i <= blocks * PAIRS; i++)
		sum += share[i];
	return sum;
}

double tune_bound(uint32_t one_in, uint32_t number)
{
	return 1.0 / one_in / ((double)number * (number + 1)) / TUNE_BLOCKS;
}

void tune_draw(uint64_t *random, bool turn[static 2 * TUNE_LOTS])
{
	for (uint32_t i = 0; i < 2 * TUNE_LOTS; i++)
		turn[i] = i < TUNE_LOTS;
	for (uint32_t i = 2 * TUNE_LOTS - 1; i > 0; i--) {
		*random += 0x9e3779b97f4a7c15ull;
		uint64_t z = (*random ^ *random >> 30) * 0xbf58476d1ce4e5b9ull;
		z = (z ^ z >> 27) * 0x94d049bb133111ebull;
		uint32_t k = (uint32_t)(((z ^ z >> 31) >> 32) * (i + 1) >> 32);
		bool last = turn[i];
		turn[i] = turn[k];
		turn[k] = last;
	}
}
