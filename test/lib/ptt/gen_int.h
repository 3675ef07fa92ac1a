/* gen_int.h: the insides of the generator: gen.c decides and counts, gen_encode.c makes bytes. */
#ifndef TALLY_PTT_GEN_INT_H
#define TALLY_PTT_GEN_INT_H

#include "ptt/gen.h"

/* A packet before it is bytes. */
struct packet {
	uint8_t row; /* of tlp_type.def */
	uint8_t be, code, route, status, lower;
	bool relaxed, poisoned, digest, hints;
	uint16_t requester, segment, completer, reg, byte_count;
	uint32_t tag, dws, prefix;
	uint64_t address;
};
void gen_encode(const struct packet *k, const struct ptt_gen_opts *o, uint32_t time, uint8_t *to);

#endif
