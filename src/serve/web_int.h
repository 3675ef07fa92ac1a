/* web_int.h: TLS and users of the service. Thread rule: the service's thread. */
#ifndef TALLY_SERVE_WEB_INT_H
#define TALLY_SERVE_WEB_INT_H

#include "base/base.h"
#include "serve/login_int.h"

struct web_user {
	char *name, *hash;
	char *right; /* the password that the hash was last found to be of, or NULL */
};
struct web {
	char *cert_file, *key_file, *cert, *key; /* cert and key are PEM; NULL: no TLS */
	struct err warning, key_warning;         /* of the certificate and of who may read its key */
	struct web_user *user;
	uint32_t nusers, capusers;
};
enum web_section { WEB_NONE, WEB_TLS, WEB_USERS };
struct web_parser {
	uint32_t line, seen; /* seen: a bit for each section */
	enum web_section section;
};
/* Reads the file, and certificate and key that it names; all belong to root or to this process's user. -TALLY_EINVAL
 * with file and line, or the certificate has another key. */
int web_open(struct web *w, const char *path, uint64_t now_ns, struct err *e);
int web_parse(struct web *w, const char *text, size_t n, struct err *e); /* the text alone; web_close() in any case */
void web_close(struct web *w);
/* Users of w who have the same hash as in `was` need not have their passwords checked again. */
void web_take_rights(struct web *w, struct web *was);
/* Whether the user may have an answer; without users everybody may. NULL: the client named nobody. */
enum web_login { WEB_RIGHT, WEB_WRONG, WEB_BUSY, WEB_NO_LIBRARY };
enum web_login web_login(struct web *w, struct login *l, const struct login_client *c, const char *password,
			 uint64_t now_ns);

#endif
