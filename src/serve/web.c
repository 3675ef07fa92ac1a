/*
 * web.c: TLS and users, from the file that the exporters of Prometheus have for that (--web.config.file).
 *
 *	tls_server_config:
 *	  cert_file: server.crt		# certificates, the server's own first; relative to this file
 *	  key_file: server.key
 *	basic_auth_users:
 *	  alice: $2y$10$...		# a hash of crypt(5), bcrypt as exporters have it
 *
 * Of YAML just this is read: two levels, a scalar a line, plain or in quotes, comments. What else there is, is refused
 * with its line and not passed over: whoever asks for client certificates must not get a service without them.
 *
 * crypt(3) checks a password, in libcrypt, which is loaded when a user logs in first. A bcrypt hash costs a twentieth
 * of a second and more, and Prometheus logs in at each scrape. So the password that was right last is kept beside the
 * user, until his hash is another one, and other checks are few a second, as login.c shares them out.
 */
#include <string.h>

#include "base/file.h"
#include "serve/certificate_int.h"
#include "serve/web_int.h"

#define SONAME "libcrypt.so.1"
LIBRARY_NOTE("users", "tally serve --web.config.file", "suggested", SONAME);

#define FILE_MOST (64u << 10)
#define USERS_MOST 1000u

/* ---- the file ------------------------------------------------------------------------------ */

static char *web_copy(const char *p, size_t n)
{
	char *to = mem_alloc(n + 1);

	if (to)
		memcpy(to, p, n);
	return to;
}

static int web_refuse(const struct web_parser *p, struct err *e, const char *why)
{
	return err_set(e, TALLY_EINVAL, "line %u: %s", p->line, why);
}

/* What stands behind a key, without quotes and comments; NULL: it is no scalar of one line. From mem_alloc. */
static char *web_scalar(const char *p, size_t n)
{
	const char quote = n && (*p == '"' || *p == '\'') ? *p : 0;
	const char *end;

	if (quote) {
		end = memchr(p + 1, quote, n - 1);
		if (!end || memchr(p, '\\', n) || (end + 1 < p + n && end[1] != ' ' && end[1] != '\t'))
			return NULL; /* no escapes are needed here */
		return web_copy(p + 1, (size_t)(end - p - 1));
	}
	for (size_t i = 1; i < n; i++)
		if (p[i] == '#' && (p[i - 1] == ' ' || p[i - 1] == '\t'))
			n = i;
	while (n && (p[n - 1] == ' ' || p[n - 1] == '\t'))
		n--;
	return n && !strchr("#[]{}&*!|>%@`,", *p) ? web_copy(p, n) : NULL;
}

/*
 * Whether it is a hash as crypt(5) has them, by its form. What lacks a letter is refused here: crypt(3) would take it,
 * and find each password wrong. crypt(3) itself is not asked, since it would take its time for each user.
 */
static bool web_is_hash(const char *hash)
{
	static const char digits[] = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	static const struct {
		const char *prefix;
		size_t digest; /* how many letters stand behind the last '$' */
		bool is_bcrypt;
	} kinds[] = { { "$2a$", 53, true }, { "$2b$", 53, true },    { "$2x$", 53, true },  { "$2y$", 53, true },
		      { "$y$", 43, false }, { "$gy$", 43, false },   { "$7$", 43, false },  { "$6$", 86, false },
		      { "$5$", 43, false }, { "$sha1$", 28, false }, { "$md5", 22, false }, { "$1$", 22, false },
		      { "$3$", 32, false } };
	const char *digest = strrchr(hash, '$') + 1;

	for (size_t i = 0; i < COUNT(kinds); i++) {
		const size_t n = strlen(kinds[i].prefix);
		const char *salt = hash + n;

		if (strncmp(hash, kinds[i].prefix, n) != 0)
			continue;
		if (strlen(digest) != kinds[i].digest || strspn(digest, digits) != kinds[i].digest)
			return false;
		if (!kinds[i].is_bcrypt)
			return digest > salt && !strpbrk(hash, " \t:;*!\\");
		return digest == salt + 3 && strspn(salt, "0123456789") == 2 && strncmp(salt, "04", 2) >= 0 &&
		       strncmp(salt, "31", 2) <= 0;
	}
	return false;
}

static struct web_user *web_find_user(const struct web *w, const char *name)
{
	for (uint32_t i = 0; i < w->nusers; i++)
		if (!strcmp(w->user[i].name, name))
			return &w->user[i];
	return NULL;
}

static int web_take_user(struct web *w, const struct web_parser *p, char *name, char *hash, struct err *e)
{
	struct web_user *u;

	if (web_find_user(w, name))
		return web_refuse(p, e, "the user is there twice");
	if (hash[0] != '$')
		return web_refuse(p, e, "no hash of a password (expected $2y$..., as htpasswd -nB makes it)");
	if (!web_is_hash(hash))
		return err_set(
			e, TALLY_EINVAL,
			"line %u: the hash of user '%s' is malformed (expected $2y$, a cost from 04 to 31, $ and 53 "
			"letters, as htpasswd -nB makes it)",
			p->line, name);
	if (w->nusers == USERS_MOST)
		return web_refuse(p, e, "too many users");
	u = VEC_NEW(w->user, w->nusers, w->capusers);
	if (!u)
		return err_oom(e);
	*u = (struct web_user){ .name = mem_strdup(name), .hash = mem_strdup(hash) };
	return u->name && u->hash ? 0 : err_oom(e);
}

static int web_take_pair(struct web *w, const struct web_parser *p, char *key, char *value, struct err *e)
{
	char **file = !strcmp(key, "cert_file") ? &w->cert_file : !strcmp(key, "key_file") ? &w->key_file : NULL;

	if (p->section == WEB_USERS)
		return web_take_user(w, p, key, value, e);
	if (p->section != WEB_TLS)
		return web_refuse(p, e, "it belongs to no section (expected tls_server_config: or basic_auth_users:)");
	if (!file)
		return err_set(e, TALLY_EINVAL,
			       "line %u: unknown key '%s' of tls_server_config (expected cert_file or key_file)",
			       p->line, key);
	if (*file)
		return web_refuse(p, e, "the file is given twice");
	*file = mem_strdup(value);
	return *file ? 0 : err_oom(e);
}

static int web_take_section(struct web_parser *p, const char *text, size_t n, struct err *e)
{
	static const char *const names[] = { [WEB_TLS] = "tls_server_config", [WEB_USERS] = "basic_auth_users" };

	for (enum web_section i = WEB_TLS; i <= WEB_USERS; i++)
		if (n == strlen(names[i]) && !memcmp(text, names[i], n)) {
			if (p->seen & 1u << i)
				return web_refuse(p, e, "the section is there twice");
			p->seen |= 1u << i;
			p->section = i;
			return 0;
		}
	return err_set(e, TALLY_EINVAL,
		       "line %u: unknown section '%.*s' (expected tls_server_config: or basic_auth_users:)", p->line,
		       (int)(n < 64 ? n : 64), text);
}

static int web_take_line(struct web *w, struct web_parser *p, const char *text, size_t n, struct err *e)
{
	size_t indent = 0, len;
	const char *colon;
	char *key, *value;
	int rc;

	while (n && (text[n - 1] == ' ' || text[n - 1] == '\t' || text[n - 1] == '\r'))
		n--;
	while (indent < n && text[indent] == ' ')
		indent++;
	if (indent == n || text[indent] == '#' || (!indent && n == 3 && !memcmp(text, "---", 3)))
		return 0;
	if (text[indent] == '\t' || memchr(text, '\0', n))
		return web_refuse(p, e, "a tab or a zero byte (YAML indents with blanks)");
	text += indent;
	n -= indent;
	colon = memchr(text, ':', n);
	if (!colon)
		return web_refuse(p, e, "no colon (expected KEY: VALUE)");
	len = (size_t)(colon + 1 - text);
	while (len < n && text[len] == ' ')
		len++;
	if (!indent)
		return len == n || text[len] == '#' ? web_take_section(p, text, (size_t)(colon - text), e) :
						      web_refuse(p, e, "a section's keys stand in lines of their own");
	if (colon + 1 < text + n && colon[1] != ' ')
		return web_refuse(p, e, "no blank behind the colon");
	key = web_scalar(text, (size_t)(colon - text));
	value = web_scalar(text + len, n - len);
	rc = key && value ? web_take_pair(w, p, key, value, e) :
			    web_refuse(p, e, "no key with a value in one line (expected KEY: VALUE)");
	mem_free(key);
	mem_free(value);
	return rc;
}

int web_parse(struct web *w, const char *text, size_t n, struct err *e)
{
	struct web_parser p = { .line = 1 };
	int rc = 0;

	for (; rc == 0 && n; p.line++) {
		const char *end = memchr(text, '\n', n);
		const size_t len = end ? (size_t)(end - text) : n;

		rc = web_take_line(w, &p, text, len, e);
		text += end ? len + 1 : len;
		n -= end ? len + 1 : len;
	}
	if (rc == 0 && !w->cert_file != !w->key_file)
		rc = err_set(e, TALLY_EINVAL, "tls_server_config has no %s", w->cert_file ? "key_file" : "cert_file");
	return rc;
}

/* ---- files -------------------------------------------------------------------------------------- */

/* Relative to the file that names it. From mem_alloc. */
static char *web_path(const char *config, const char *name)
{
	const char *slash = name[0] == '/' ? NULL : strrchr(config, '/');
	struct buf path = { 0 };
	char *copy;

	if (slash)
		buf_put(&path, config, (size_t)(slash + 1 - config));
	buf_puts(&path, name);
	copy = path.failed ? NULL : mem_strdup(path.p);
	buf_free(&path);
	return copy;
}

static int web_read_pem(const char *path, char **ret, struct err *e)
{
	uint8_t *text = NULL;
	size_t n = 0;
	int rc = path ? file_read_owned(path, FILE_MOST, &text, &n, e) : err_oom(e);

	*ret = rc < 0 ? NULL : web_copy(text ? (char *)text : "", n);
	mem_free(text);
	return rc < 0 ? rc : *ret ? 0 : err_oom(e);
}

static int web_read_tls(struct web *w, const char *config, uint64_t now_ns, struct err *e)
{
	char *cert_path = web_path(config, w->cert_file), *key_path = web_path(config, w->key_file);
	int rc = web_read_pem(cert_path, &w->cert, e);

	if (rc == 0)
		rc = web_read_pem(key_path, &w->key, e);
	if (rc == 0)
		rc = certificate_check(&(struct certificate){ w->cert_file, w->key_file, w->cert, w->key }, now_ns,
				       &w->warning, e);
	if (rc == 0 && file_others_may_read(key_path))
		(void)err_set(&w->key_warning, TALLY_EPERM, "%s: others may read the key; as its owner: chmod o-r %s",
			      key_path, key_path);
	mem_free(cert_path);
	mem_free(key_path);
	return rc;
}

int web_open(struct web *w, const char *path, uint64_t now_ns, struct err *e)
{
	struct err why = { 0 };
	uint8_t *text = NULL;
	size_t n = 0;
	int rc = file_read_owned(path, FILE_MOST, &text, &n, e);

	*w = (struct web){ 0 };
	if (rc < 0)
		return rc;
	rc = web_parse(w, text ? (char *)text : "", n, &why);
	if (rc < 0)
		(void)err_set(e, (enum tally_err) - rc, "%s: %s", path, why.text);
	if (rc == 0 && w->cert_file)
		rc = web_read_tls(w, path, now_ns, e);
	mem_free(text);
	if (rc < 0)
		web_close(w);
	return rc;
}

static void web_forget_secret(char *secret)
{
	if (secret)
		explicit_bzero(secret, strlen(secret));
	mem_free(secret);
}

void web_close(struct web *w)
{
	for (uint32_t i = 0; i < w->nusers; i++) {
		mem_free(w->user[i].name);
		mem_free(w->user[i].hash);
		web_forget_secret(w->user[i].right);
	}
	mem_free(w->user);
	mem_free(w->cert_file);
	mem_free(w->key_file);
	mem_free(w->cert);
	web_forget_secret(w->key);
	*w = (struct web){ 0 };
}

/* ---- users ---------------------------------------------------------------------------------------- */

void web_take_rights(struct web *w, struct web *was)
{
	for (uint32_t i = 0; i < was->nusers; i++) {
		struct web_user *u = web_find_user(w, was->user[i].name);

		if (!u || strcmp(u->hash, was->user[i].hash) != 0)
			continue;
		web_forget_secret(u->right);
		u->right = was->user[i].right;
		was->user[i].right = NULL;
	}
}

struct web_crypt {
	char *(*crypt)(const char *password, const char *hash);
};

/* In a time that says nothing about where they differ. */
static bool web_is_same(const char *a, const char *b)
{
	const size_t n = strlen(a);
	unsigned differs = n != strlen(b);

	for (size_t i = 0; !differs && i < n; i++)
		differs |= (unsigned char)(a[i] ^ b[i]);
	return !differs;
}

static enum web_login web_check(const char *password, const char *hash)
{
	static const char *const names[] = { "crypt" };
	struct web_crypt lib = { 0 };
	const char *made;

	if (!library_load(SONAME, names, (void **)(void *)&lib, COUNT(names)))
		return WEB_NO_LIBRARY;
	made = lib.crypt(password, hash);
	return made && web_is_same(made, hash) ? WEB_RIGHT : WEB_WRONG;
}

enum web_login web_login(struct web *w, struct login *l, const struct login_client *c, const char *password,
			 uint64_t now_ns)
{
	struct web_user *u;
	enum web_login got;

	if (!w->nusers)
		return WEB_RIGHT;
	if (!c->name || !password)
		return WEB_WRONG;
	u = web_find_user(w, c->name);
	if (u && u->right && web_is_same(u->right, password))
		return WEB_RIGHT;
	if (!login_may_check(l, c, now_ns))
		return WEB_BUSY;
	/* a name that is none takes as long as one that is */
	got = web_check(password, u ? u->hash : w->user[0].hash);
	if (got == WEB_NO_LIBRARY)
		return got;
	if (got == WEB_RIGHT && u) {
		web_forget_secret(u->right);
		u->right = mem_strdup(password);
		return WEB_RIGHT;
	}
	login_fail(l, c, now_ns);
	return WEB_WRONG;
}
