/* niagara_trace.h: references of a program as others wrote them down, lines of text. */
#ifndef TALLY_TEST_NIAGARA_TRACE_H
#define TALLY_TEST_NIAGARA_TRACE_H

#include "machine/niagara.h"

enum niagara_format { NIAGARA_LACKEY, NIAGARA_DIN }; /* valgrind --tool=lackey --trace-mem=yes; Dinero */
struct niagara_reader {
	uint8_t format;
	uint16_t strand;
	uint64_t lines, skipped;
	char rest[128];
	uint32_t nrest;
};
/* Takes bytes of such a file, feeds whole lines, keeps the rest (a last line without its end: hand over a "\n"). Lines
 * that are none are counted as skipped. A reader starts as zeros. */
void niagara_read(struct niagara_reader *r, struct niagara *n, const char *p, size_t bytes);

#endif
