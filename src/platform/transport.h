/*
 * transport.h: transports to hypervisors that this process runs itself, and to answers that were saved.
 *
 *	transport.c        a model, its service and one guest of it
 *	transport_file.c   a saved reply, or a dump of MMU statistics
 */
#ifndef TALLY_PLATFORM_TRANSPORT_H
#define TALLY_PLATFORM_TRANSPORT_H

#include "hv/transport.h"
#include "machine/model.h"

/* A transport to a new machine with one guest, on all strands of it (POWER: partition 1). Time passes in advance()
 * only. -TALLY_EINVAL with words; -TALLY_ENOMEM. */
int transport_open(struct hv_transport *ret, const struct model_opts *o, struct err *e);
void transport_close(struct hv_transport *t); /* an empty one is fine */

/* A file: bytes, or their hexadecimal digits. Then exactly one of these is set. */
struct transport_file {
	struct hv_transport reply; /* op set: answers with the reply, to its request alone */
	uint8_t version;           /* of the reply's layout */
	uint32_t request;
	bool is_mmustat;
	uint8_t mmustat[MMUSTAT_BYTES];
};
/* -TALLY_EIO: it can't be read; -TALLY_ECORRUPT: it is neither. */
int transport_file_open(struct transport_file *ret, const char *path, struct err *e);
int transport_file_parse(struct transport_file *ret, const char *name, const uint8_t *p, size_t n, struct err *e);

#endif
