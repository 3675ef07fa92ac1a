#include "facts/bucket_of.h"

static uint64_t bucket_magnitude(int64_t v)
{
	return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

uint32_t quantize_bucket(int64_t v)
{
	if (v == 0)
		return QUANTIZE_ZERO;
	uint32_t k = 64 - (uint32_t)__builtin_clzll(bucket_magnitude(v));
	if (v > 0)
		return QUANTIZE_ZERO + k;
	return k < QUANTIZE_ZERO ? QUANTIZE_ZERO - k : 0;
}

uint32_t llquantize_bucket(const struct llquantize *q, int64_t v)
{
	int64_t edge[LLQUANTIZE_EDGES];
	uint32_t n = llquantize_edges(q, edge), bucket = 0;

	while (bucket < n && edge[bucket] <= v)
		bucket++;
	return bucket;
}
