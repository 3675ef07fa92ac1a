/* web_int.h: TLS and users of the service. Thread rule: the service's thread. */
#ifndef TALLY_SERVE_WEB_INT_H
#define TALLY_SERVE_WEB_INT_H

#include "base/base.h"

struct web_user {
	char *name, *hash;
	char *right; /* the password that the hash was last found to be of, or NULL */
};
struct web {
	char *cert_file, *key_file, *cert, *key; /* cert and key are PEM; NULL: no TLS */
	struct web_user *user;
	uint32_t nusers, capusers;
	uint64_t second; /* in which so many passwords were checked */
	uint32_t checks;
};
enum web_section { WEB_NONE, WEB_TLS, WEB_USERS };
struct web_parser {
	uint32_t line, seen; /* seen: a bit for each section */
	enum web_section section;
};
/* Reads the file, and certificate and key that it names; all belong to root or to this process's user. -TALLY_EINVAL
 * with file and line. */
int web_open(struct web *w, const char *path, struct err *e);
int web_parse(struct web *w, const char *text, size_t n, struct err *e); /* the text alone; web_close() in any case */
void web_close(struct web *w);
/* Whether the user may have an answer; without users everybody may. NULL: the client named nobody. */
enum web_login { WEB_RIGHT, WEB_WRONG, WEB_BUSY, WEB_NO_LIBRARY };
enum web_login web_login(struct web *w, const char *name, const char *password, uint64_t now_ns);

#endif
