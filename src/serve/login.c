/*
 * login.c: whose password is checked, when more come than can be checked.
 *
 * A check costs a twentieth of a second and more (bcrypt), in the one thread that also counts. So LOGIN_CHECKS are made
 * a second, and who comes beyond that is told to come again. A stranger who tries passwords must not use all of them
 * up:
 *
 *	an address that failed FAILED_FREE times  all such share SUSPECTS a second, and each waits for its turn: the
 *	                                          more there are, the longer
 *	another address, a name that failed so    NAMES a second: many addresses that try one user's name
 *	an address and a name that did not        what is left of LOGIN_CHECKS, which is one a second at least
 *
 * What failed is forgotten when it did not fail again for LOGIN_FAILED_S.  An address of IPv6 counts by its /64, since
 * whoever has one has all of it.  A name that is no user's counts as one that is, so answers do not tell them apart.
 * Many strangers with many addresses and many names can still use up all checks: a password costs too much for that.
 */
#include <netinet/in.h>
#include <string.h>

#include "serve/login_int.h"

#define FAILED_FREE 3u /* a slip of the hand is no attack */
#define SUSPECTS 2u
#define NAMES 2u
#define SECOND_NS UINT64_C(1000000000)

enum login_kind { LOGIN_UNKNOWN, LOGIN_NAME_FAILED, LOGIN_ADDRESS_FAILED };
static_assert(SUSPECTS + NAMES < LOGIN_CHECKS, "who never failed has a check a second at least");

static uint64_t login_number(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v = v << 8 | p[i];
	return v;
}

/* No /64 that is in use begins with four zero bytes, as the IPv4 addresses do here; but that of ::1, which is 0. */
uint64_t login_address(const struct sockaddr *at)
{
	const struct sockaddr_in6 *v6 = (const void *)at;
	const struct sockaddr_in *v4 = (const void *)at;

	if (at && at->sa_family == AF_INET)
		return ntohl(v4->sin_addr.s_addr);
	if (!at || at->sa_family != AF_INET6)
		return 0;
	return IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr) ? login_number(v6->sin6_addr.s6_addr + 12, 4) :
						      login_number(v6->sin6_addr.s6_addr, 8);
}

/* A clock that was set back forgets, too. */
static bool login_is_remembered(const struct login_failed *f, uint64_t now_ns)
{
	return f->at_ns && now_ns - f->at_ns < LOGIN_FAILED_S * SECOND_NS;
}

static const struct login_failed *login_find(const struct login_failed *table, uint64_t key, uint64_t now_ns)
{
	for (const struct login_failed *f = table; f < table + LOGIN_FAILED_MOST; f++)
		if (f->key == key && f->times >= FAILED_FREE && login_is_remembered(f, now_ns))
			return f;
	return NULL;
}

/* The turn of an address that failed: it waits as long as all of them take. */
static bool login_has_turn(const struct login *l, const struct login_failed *its, uint64_t now_ns)
{
	uint64_t n = 0;

	for (const struct login_failed *f = l->address; f < l->address + LOGIN_FAILED_MOST; f++)
		n += f->times >= FAILED_FREE && login_is_remembered(f, now_ns);
	return now_ns - its->at_ns >= n * SECOND_NS / SUSPECTS;
}

bool login_may_check(struct login *l, const struct login_client *c, uint64_t now_ns)
{
	static const uint32_t most[] = { LOGIN_CHECKS, NAMES, SUSPECTS };
	const uint64_t name = text_hash(c->name, strlen(c->name)), second = now_ns / SECOND_NS;
	const struct login_failed *its = login_find(l->address, c->address, now_ns);
	const enum login_kind kind = its                               ? LOGIN_ADDRESS_FAILED :
				     login_find(l->name, name, now_ns) ? LOGIN_NAME_FAILED :
									 LOGIN_UNKNOWN;

	if (l->second != second)
		memset(l->checks, 0, sizeof(l->checks));
	l->second = second;
	if (l->checks[kind] >= most[kind] ||
	    l->checks[LOGIN_UNKNOWN] + l->checks[LOGIN_NAME_FAILED] + l->checks[LOGIN_ADDRESS_FAILED] >= LOGIN_CHECKS)
		return false;
	if (its && !login_has_turn(l, its, now_ns))
		return false;
	l->checks[kind]++;
	return true;
}

/* NULL: the table is full, which it is never, since no more are checked than it has room for. */
static struct login_failed *login_find_place(struct login_failed *table, uint64_t key, uint64_t now_ns)
{
	struct login_failed *f;

	for (f = table; f < table + LOGIN_FAILED_MOST; f++)
		if (f->key == key && login_is_remembered(f, now_ns))
			return f;
	for (f = table; f < table + LOGIN_FAILED_MOST; f++)
		if (!login_is_remembered(f, now_ns)) {
			*f = (struct login_failed){ .key = key };
			return f;
		}
	return NULL;
}

static void login_note(struct login_failed *table, uint64_t key, uint64_t now_ns)
{
	struct login_failed *f = login_find_place(table, key, now_ns);

	if (!f)
		return;
	f->at_ns = now_ns;
	f->times++;
}

void login_fail(struct login *l, const struct login_client *c, uint64_t now_ns)
{
	login_note(l->address, c->address, now_ns);
	login_note(l->name, text_hash(c->name, strlen(c->name)), now_ns);
}
