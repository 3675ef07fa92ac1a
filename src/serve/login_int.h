/* login_int.h: whose password may be checked now. Thread rule: the service's thread. */
#ifndef TALLY_SERVE_LOGIN_INT_H
#define TALLY_SERVE_LOGIN_INT_H

#include <sys/socket.h>

#include "base/base.h"

#define LOGIN_CHECKS 5u /* a second */
#define LOGIN_FAILED_S 60u
/* So few checks are made that there is room for all that failed, until they are forgotten. */
#define LOGIN_FAILED_MOST (LOGIN_CHECKS * (LOGIN_FAILED_S + 1))

struct login_failed {
	uint64_t key;   /* of an address or of a user's name */
	uint64_t at_ns; /* when it failed last; 0: the place is free */
	uint32_t times;
};
struct login {
	struct login_failed address[LOGIN_FAILED_MOST], name[LOGIN_FAILED_MOST];
	uint64_t second; /* in which so many passwords were checked, of each kind of client */
	uint32_t checks[3];
};
/* Who logs in. */
struct login_client {
	uint64_t address; /* login_address() */
	const char *name;
};
/* An IPv4 address, or the /64 of an IPv6 address; all others are one, as is NULL. */
uint64_t login_address(const struct sockaddr *at);
/* Whether his password may be checked now, which then is counted as a check. */
bool login_may_check(struct login *l, const struct login_client *c, uint64_t now_ns);
/* It was wrong. */
void login_fail(struct login *l, const struct login_client *c, uint64_t now_ns);

#endif
