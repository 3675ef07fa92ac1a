/* certificate_int.h: whether a certificate and its key are what clients take. Thread rule: the service's thread. */
#ifndef TALLY_SERVE_CERTIFICATE_INT_H
#define TALLY_SERVE_CERTIFICATE_INT_H

#include "base/base.h"

struct certificate {
	const char *cert_file, *key_file; /* for words */
	const char *cert, *key;           /* PEM */
};
/* -TALLY_EINVAL: they are no certificate with its key. *warning: its time is over, or has not come yet. Where GnuTLS is
 * not installed nothing is found. */
int certificate_check(const struct certificate *c, uint64_t now_ns, struct err *warning, struct err *e);

#endif
