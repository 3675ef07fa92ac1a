/* bucket_of.h: the bucket of a value in quantize() and llquantize(), as the rules in facts/bucket.h have it: what
 * compiled programs are held against. */
#ifndef TEST_FACTS_BUCKET_OF_H
#define TEST_FACTS_BUCKET_OF_H

#include "facts/bucket.h"

uint32_t quantize_bucket(int64_t v);
uint32_t llquantize_bucket(const struct llquantize *q, int64_t v);

#endif
