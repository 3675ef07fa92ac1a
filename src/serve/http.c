/*
 * http.c: libmicrohttpd, which the service loads when it starts: nothing else of tally needs it.
 *
 * The library does HTTP; here stand only which requests there are and what bounds a client.  All runs in the service's
 * one thread: libmicrohttpd hands out a descriptor, and is called when that is readable.  A client costs at most
 * CONNECTION_BYTES, and there are at most HTTP_CONNECTIONS of them; requests have no body.
 *
 * A place is held for a request at a time.  The library ends a client that is silent for SILENCE_S, but one that says a
 * byte now and then, or reads one, is never silent: so a request has REQUEST_NS from when it could begin to the end of
 * its headers, and as long again for its answer.  And when all places are taken, who has had his for CROWDED_NS loses
 * it: an honest client needs milliseconds, so whoever comes is answered, however many others only hold a place.  Pages
 * and profiles last, by design; these are fewer than there are places.
 *
 * Reading everything takes a millisecond and more.  So of more than SHARE_FROM clients those that ask for /metrics
 * within SHARE_NS get one reading: slow readers of it cost their places, and not the time of all.
 *
 * Without TLS and users it listens on the loopback network alone, and answers to the names of that alone: a stranger's
 * page in a browser here, whose name was made to mean 127.0.0.1, asks by its own (DNS rebinding).
 *
 * When TLS and users change, the library's daemon is started again on the same socket: clients that are connected at
 * that moment are not answered.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "serve/http_int.h"

#define SONAME "libmicrohttpd.so.12"
LIBRARY_NOTE("http", "tally serve", "recommended", SONAME);

#define BACKLOG 4096 /* a connection that finds the queue full is tried again by its kernel, later and later */
#define CONNECTION_BYTES (16u << 10)
#define SILENCE_S 10u
#define REQUEST_NS UINT64_C(30000000000)
#define CROWDED_NS UINT64_C(250000000)
#define SHARE_FROM 16u
#define SHARE_NS UINT64_C(100000000)
#define TLS_VERSIONS "NORMAL:-VERS-TLS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

static const char *const http_names[] = {
#define X(name) "MHD_" #name,
	HTTP_FUNCTIONS(X)
#undef X
};
static_assert(sizeof(struct http_library) == COUNT(http_names) * sizeof(void *),
	      "a table of functions and nothing else");

/* ---- addresses ----------------------------------------------------------------------- */

union http_socket {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static bool http_is_loopback(const union http_socket *at)
{
	return at->any.sa_family == AF_INET6 ? IN6_IS_ADDR_LOOPBACK(&at->v6.sin6_addr) :
	       at->any.sa_family == AF_INET  ? ntohl(at->v4.sin_addr.s_addr) >> 24 == 127 :
					       at->any.sa_family == AF_UNIX;
}

/* "127.0.0.1:7347", "[::1]:7347" */
static int http_parse_address(const char *text, union http_socket *ret, struct err *e)
{
	const char *colon = strrchr(text, ':');
	char host[64] = "";
	size_t n = colon ? (size_t)(colon - text) : 0;
	uint64_t port;
	bool v6 = n > 2 && text[0] == '[' && text[n - 1] == ']';

	*ret = (union http_socket){ 0 };
	if (colon && n - (v6 ? 2 : 0) < sizeof(host))
		memcpy(host, text + v6, n - (v6 ? 2 : 0));
	if (!colon || !text_u64(colon + 1, &port) || port > UINT16_MAX)
		return err_set(e, TALLY_EINVAL, "invalid address '%s' (expected e.g. 127.0.0.1:%d)", text,
			       TALLY_SERVE_PORT);
	if (v6 && inet_pton(AF_INET6, host, &ret->v6.sin6_addr) == 1) {
		ret->v6.sin6_family = AF_INET6;
		ret->v6.sin6_port = htons((uint16_t)port);
		return 0;
	}
	if (!v6 && inet_pton(AF_INET, host, &ret->v4.sin_addr) == 1) {
		ret->v4.sin_family = AF_INET;
		ret->v4.sin_port = htons((uint16_t)port);
		return 0;
	}
	return err_set(e, TALLY_EINVAL, "invalid address '%s' (expected e.g. 127.0.0.1:%d or [::1]:%d)", text,
		       TALLY_SERVE_PORT, TALLY_SERVE_PORT);
}

static int http_refuse_open(const char *address, struct err *e)
{
	return err_set(e, TALLY_EINVAL,
		       "%s is no loopback address: that requires TLS and users, which a file "
		       "of --web.config.file has (tls_server_config and basic_auth_users)",
		       address);
}

int http_address(const char *text, bool loopback, struct err *e)
{
	union http_socket at;
	int rc = http_parse_address(text, &at, e);

	return rc == 0 && loopback && !http_is_loopback(&at) ? http_refuse_open(text, e) : rc;
}

bool http_is_loopback_name(const char *host)
{
	const char *colon = strrchr(host, ':');
	const bool v6 = host[0] == '[';
	const size_t n = v6 ? strcspn(host, "]") + 1 : colon ? (size_t)(colon - host) : strlen(host);
	char name[16] = ""; /* 127.255.255.255 */
	struct in_addr v4;

	if (!n || n >= sizeof(name) || n > strlen(host) || (host[n] && host[n] != ':'))
		return false;
	memcpy(name, host, n);
	if (!strcasecmp(name, "localhost") || !strcasecmp(name, "localhost.") || !strcmp(name, "[::1]"))
		return true; /* the dot: no domain is put behind it (RFC 1034, 3.1) */
	return inet_pton(AF_INET, name, &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127;
}

/* A socket that listens there. */
static int http_listen(const union http_socket *at, int *ret)
{
	const int on = 1;
	const bool v6 = at->any.sa_family == AF_INET6;
	const int fd = socket(at->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	*ret = fd;
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
		return -1;
	if (v6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) < 0)
		return -1;
	if (bind(fd, &at->any, v6 ? sizeof(at->v6) : sizeof(at->v4)) < 0)
		return -1;
	return listen(fd, BACKLOG);
}

static int http_socket_open(struct http *h, const char *address, struct err *e)
{
	union http_socket at = { 0 };
	socklen_t n = sizeof(at);
	bool listens = true;

	if (h->serve->o.listen_fd) {
		h->listener = fcntl(h->serve->o.listen_fd, F_DUPFD_CLOEXEC, 3);
		address = "the socket that was handed over";
	} else {
		int rc = http_parse_address(address, &at, e);

		if (rc < 0)
			return rc;
		listens = http_listen(&at, &h->listener) == 0;
	}
	if (!listens || h->listener < 0 || getsockname(h->listener, &at.any, &n) < 0 ||
	    fcntl(h->listener, F_SETFL, O_NONBLOCK) < 0) {
		const int why = errno;

		return err_set(e,
			       why == EADDRINUSE ? TALLY_EBUSY :
			       why == EACCES     ? TALLY_EPERM :
						   TALLY_EIO,
			       "failed to listen on %s: %s", address,
			       why == EADDRINUSE ? "another process has the port; choose one with --listen" :
						   strerror(why));
	}
	if (!http_is_loopback(&at) && (!h->web.cert || !h->web.nusers))
		return http_refuse_open(address, e);
	h->port = at.any.sa_family == AF_INET6 ? ntohs(at.v6.sin6_port) :
		  at.any.sa_family == AF_INET  ? ntohs(at.v4.sin_port) :
						 0;
	return 0;
}

/* ---- requests that wait ------------------------------------------------------------------ */

void http_suspend(struct http *h, struct MHD_Connection *c)
{
	h->lib.suspend_connection(c);
}

/* The library's own timeout does not tell of it. */
void http_resume(struct http *h, struct MHD_Connection *c)
{
	h->is_due = true;
	h->lib.resume_connection(c);
}

/* ---- answers --------------------------------------------------------------------------- */

static uint64_t http_now(const struct http *h)
{
	return h->serve->o.clock(h->serve->o.arg);
}

const char *http_query(const struct http_request *q, const char *name)
{
	return q->http->lib.lookup_connection_value(q->connection, MHD_GET_ARGUMENT_KIND, name);
}

enum MHD_Result http_send(struct http_request *q, unsigned status, const char *type, const char *policy,
			  struct MHD_Response *r)
{
	const struct http_library *lib = &q->http->lib;
	enum MHD_Result result;

	lib->add_response_header(r, "Content-Type", type);
	lib->add_response_header(r, "Cache-Control", "no-store");
	lib->add_response_header(r, "X-Content-Type-Options", "nosniff");
	lib->add_response_header(r, "Content-Security-Policy", policy ? policy : "default-src 'none'");
	if (*q->duration)
		lib->add_response_header(r, "Tally-Duration", q->duration);
	if (*q->left_out)
		lib->add_response_header(r, "Tally-Left-Out", q->left_out);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		lib->add_response_header(r, "Allow", "GET, HEAD");
	if (status == MHD_HTTP_UNAUTHORIZED)
		lib->add_response_header(r, "WWW-Authenticate", "Basic realm=\"tally\", charset=\"UTF-8\"");
	result = lib->queue_response(q->connection, status, r);
	lib->destroy_response(r);
	return result;
}

enum MHD_Result http_answer(struct http_request *q, unsigned status, const char *type, const char *policy,
			    struct buf *body)
{
	struct MHD_Response *r = body->failed ?
					 NULL :
					 q->http->lib.create_response_from_buffer(body->n, body->p ? body->p : "",
										  MHD_RESPMEM_MUST_COPY);

	buf_free(body);
	return r ? http_send(q, status, type, policy, r) : MHD_NO; /* MHD_NO closes the connection */
}

enum MHD_Result http_say(struct http_request *q, unsigned status, const char *words)
{
	struct buf body = { 0 };

	buf_puts(&body, words);
	buf_putc(&body, '\n');
	return http_answer(q, status, "text/plain; charset=utf-8", NULL, &body);
}

/* ---- paths ------------------------------------------------------------------------------ */

static const struct {
	const char *path;
	enum MHD_Result (*get)(struct http_request *q);
	const char *keys, *what;
} http_paths[] = {
#define PATH(path, get, keys, what) { path, get, keys, what },
#include "serve/path.def"
#undef PATH
};

enum MHD_Result http_get_index(struct http_request *q)
{
	struct buf body = { 0 };

	buf_puts(&body, "tally serve\n\n");
	for (size_t i = 0; i < COUNT(http_paths); i++)
		buf_printf(&body, "%-21s %s\n", http_paths[i].path, http_paths[i].what);
	return http_answer(q, MHD_HTTP_OK, "text/plain; charset=utf-8", NULL, &body);
}

enum MHD_Result http_get_metrics(struct http_request *q)
{
	const char *accept = q->http->lib.lookup_connection_value(q->connection, MHD_HEADER_KIND, "Accept");
	const enum format f = format_accepted(accept, accept ? strlen(accept) : 0);
	const uint64_t now = http_now(q->http);
	const bool is_crowded = q->http->nconnections > SHARE_FROM;
	struct http_reading *shared = &q->http->shared;
	struct buf body = { 0 };

	if (is_crowded && shared->text.n && shared->format == f && now - shared->ns < SHARE_NS) {
		q->http->serve->scrapes++;
		buf_put(&body, shared->text.p, shared->text.n);
		return http_answer(q, MHD_HTTP_OK, format_content_type(f), NULL, &body);
	}
	if (serve_metrics(q->http->serve, f, &body) < 0)
		body.failed = true;
	buf_free(&shared->text);
	if (is_crowded && !body.failed) {
		buf_put(&shared->text, body.p, body.n);
		if (shared->text.failed)
			buf_free(&shared->text);
		shared->format = f;
		shared->ns = now;
	}
	return http_answer(q, MHD_HTTP_OK, format_content_type(f), NULL, &body);
}

enum MHD_Result http_get_status(struct http_request *q)
{
	struct buf body = { 0 };

	if (serve_status(q->http->serve, &body) < 0)
		body.failed = true;
	return http_answer(q, MHD_HTTP_OK, "application/json", NULL, &body);
}

/* Who logs in is asked by the browser for this name. A socket without a port is out of a browser's reach. */
static bool http_is_asked_by_name(const struct http_request *q)
{
	const struct http *h = q->http;
	const char *host = h->lib.lookup_connection_value(q->connection, MHD_HEADER_KIND, "Host");

	return h->web.nusers || !h->port || !host || http_is_loopback_name(host);
}

/* Of a request as proxies get it, too: http://HOST/metrics (RFC 9112, 3.2.2). */
static const char *http_path(const char *url)
{
	const char *host = !strncasecmp(url, "http://", 7)  ? url + 7 :
			   !strncasecmp(url, "https://", 8) ? url + 8 :
							      NULL;
	const char *path = host ? strchr(host, '/') : url;

	return path ? path : "/";
}

struct http_keys {
	const char *known;
	struct buf unknown; /* the first that is not */
};

static enum MHD_Result http_check_key(void *arg, enum MHD_ValueKind kind, const char *key, const char *value)
{
	struct http_keys *c = arg;
	const size_t n = strlen(key);

	(void)kind;
	(void)value;
	for (const char *at = c->known; n && *at; at += strspn(at, ", ")) {
		const size_t len = strcspn(at, ", ");

		if (n == len && !memcmp(at, key, n))
			return MHD_YES;
		at += len;
	}
	buf_puts(&c->unknown, "unknown key '");
	buf_plain(&c->unknown, key, n < 64 ? n : 64);
	buf_putc(&c->unknown, '\'');
	return MHD_NO;
}

/* Whether the path knows all keys of the query; if not, the client got an answer that says so: *ret. A key that is
 * written wrong would else be an answer to another question. */
static bool http_check_query(struct http_request *q, const char *path, const char *known, enum MHD_Result *ret)
{
	struct http_keys c = { .known = known };

	if (known)
		(void)q->http->lib.get_connection_values(q->connection, MHD_GET_ARGUMENT_KIND, http_check_key, &c);
	if (c.unknown.n && *known)
		buf_printf(&c.unknown, " (expected one of %s)", known);
	else if (c.unknown.n)
		buf_printf(&c.unknown, ": %s has no keys", path);
	if (c.unknown.n)
		*ret = http_say(q, MHD_HTTP_BAD_REQUEST, c.unknown.p);
	else if (c.unknown.failed)
		*ret = MHD_NO;
	else
		return true;
	buf_free(&c.unknown);
	return false;
}

/* Whether the client may have an answer; if not, it got one that says so: *ret. */
static bool http_login(struct http_request *q, enum MHD_Result *ret)
{
	static const char *const words[] = { [WEB_WRONG] = "a user and a password are required",
					     [WEB_BUSY] = "too many log-ins are tried; try again in a second",
					     [WEB_NO_LIBRARY] =
						     "passwords can't be checked: libcrypt.so.1 is not installed" };
	static const unsigned status[] = { [WEB_WRONG] = MHD_HTTP_UNAUTHORIZED,
					   [WEB_BUSY] = MHD_HTTP_SERVICE_UNAVAILABLE,
					   [WEB_NO_LIBRARY] = MHD_HTTP_INTERNAL_SERVER_ERROR };
	struct http *h = q->http;
	const union MHD_ConnectionInfo *info;
	struct login_client client;
	char *password = NULL, *name;
	enum web_login got;

	if (!h->web.nusers)
		return true;
	name = h->lib.basic_auth_get_username_password(q->connection, &password);
	info = h->lib.get_connection_info(q->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	client = (struct login_client){ .name = name, .address = login_address(info ? info->client_addr : NULL) };
	got = web_login(&h->web, &h->login, &client, password, http_now(h));
	if (password)
		explicit_bzero(password, strlen(password));
	if (name)
		h->lib.free(name);
	if (password)
		h->lib.free(password);
	if (got != WEB_RIGHT)
		*ret = http_say(q, status[got], words[got]);
	return got == WEB_RIGHT;
}

/* ---- connections ------------------------------------------------------------------------ */

static void http_note_connection(void *arg, struct MHD_Connection *c, void **state,
				 enum MHD_ConnectionNotificationCode code)
{
	struct http *h = arg;
	struct http_connection *at = *state;
	const union MHD_ConnectionInfo *info;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED && at) {
		at->is_open = false;
		h->nconnections--;
	}
	if (code != MHD_CONNECTION_NOTIFY_STARTED)
		return;
	info = h->lib.get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	for (at = h->connection; at < h->connection + HTTP_CONNECTIONS && at->is_open;)
		at++;
	if (!info || at == h->connection + HTTP_CONNECTIONS)
		return;
	*at = (struct http_connection){ .is_open = true, .fd = info->connect_fd, .since_ns = http_now(h) };
	h->nconnections++;
	*state = at;
}

void http_last(struct http_request *q, bool lasts)
{
	const union MHD_ConnectionInfo *info =
		q->http->lib.get_connection_info(q->connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct http_connection *at = info ? info->socket_context : NULL;

	if (!at)
		return;
	at->lasts = lasts;
	at->since_ns = http_now(q->http);
}

/* The library sees the end of the stream, and closes it. */
static void http_bound_connections(struct http *h)
{
	const uint64_t now = http_now(h), most = h->nconnections == HTTP_CONNECTIONS ? CROWDED_NS : REQUEST_NS;

	for (struct http_connection *at = h->connection; at < h->connection + HTTP_CONNECTIONS; at++) {
		if (!at->is_open || at->lasts)
			continue;
		if (now < at->since_ns) /* the clock was set back */
			at->since_ns = now;
		if (now - at->since_ns >= most)
			(void)shutdown(at->fd, SHUT_RDWR);
	}
}

/* libmicrohttpd calls it with the headers, once more for the request, and after each time that it was suspended. */
static enum MHD_Result http_take_request(void *arg, struct MHD_Connection *c, const char *url, const char *method,
					 const char *version, const char *upload, size_t *upload_size, void **state)
{
	struct http_request *q = *state;
	enum MHD_Result result;

	(void)version;
	(void)upload;
	if (!q) {
		q = mem_alloc(sizeof(*q));
		if (!q)
			return MHD_NO;
		*q = (struct http_request){ .http = arg, .connection = c };
		*state = q;
		http_last(q, false);
		return MHD_YES;
	}
	if (*upload_size) { /* nothing is taken from a client */
		*upload_size = 0;
		return MHD_YES;
	}
	if (!http_is_asked_by_name(q))
		return http_say(q, MHD_HTTP_MISDIRECTED_REQUEST,
				"without users this service has the names localhost, 127.0.0.1 and [::1] only; others "
				"require basic_auth_users in a file of --web.config.file");
	if (!http_login(q, &result))
		return result;
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return http_say(q, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are answered");
	url = http_path(url);
	for (size_t i = 0; i < COUNT(http_paths); i++)
		if (!strcmp(url, http_paths[i].path))
			return http_check_query(q, url, http_paths[i].keys, &result) ? http_paths[i].get(q) : result;
	return http_say(q, MHD_HTTP_NOT_FOUND, "there is no such page; /help lists what there is");
}

static void http_end_request(void *arg, struct MHD_Connection *c, void **state, enum MHD_RequestTerminationCode why)
{
	struct http_request *q = *state;

	(void)arg;
	(void)c;
	(void)why;
	if (q)
		http_last(q, false);
	if (q && q->state_free)
		q->state_free(q->state);
	mem_free(q);
	*state = NULL;
}

/* ---- life ------------------------------------------------------------------------------ */

/* The daemon of the library, on the socket that is there. */
static int http_start(struct http *h, struct err *e)
{
	const int fd = fcntl(h->listener, F_DUPFD_CLOEXEC, 3);
	const unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (h->web.cert ? MHD_USE_TLS : 0);
	const struct MHD_OptionItem tls[] = { { MHD_OPTION_HTTPS_MEM_CERT, 0, h->web.cert },
					      { MHD_OPTION_HTTPS_MEM_KEY, 0, h->web.key },
					      { MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TLS_VERSIONS },
					      { MHD_OPTION_END, 0, NULL } };

	h->daemon =
		fd < 0 ?
			NULL :
			h->lib.start_daemon(flags, 0, NULL, NULL, http_take_request, h, MHD_OPTION_LISTEN_SOCKET, fd,
					    MHD_OPTION_CONNECTION_LIMIT, HTTP_CONNECTIONS, MHD_OPTION_NOTIFY_COMPLETED,
					    http_end_request, h, MHD_OPTION_NOTIFY_CONNECTION, http_note_connection, h,
					    MHD_OPTION_CONNECTION_TIMEOUT, SILENCE_S,
					    MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
					    MHD_OPTION_ARRAY, h->web.cert ? tls : tls + COUNT(tls) - 1, MHD_OPTION_END);
	if (h->daemon)
		return 0;
	if (fd >= 0)
		(void)close(fd); /* the library may have closed it */
	return h->web.cert ? err_set(e, TALLY_EINVAL, "failed to start TLS: %s and %s are no certificate with its key",
				     h->web.cert_file, h->web.key_file) :
			     err_set(e, TALLY_EIO, "failed to start HTTP: %s", strerror(errno));
}

static void http_stop(struct http *h)
{
	if (h->daemon)
		h->lib.stop_daemon(h->daemon);
	h->daemon = NULL;
}

int http_open(struct http **ret, struct tally_serve *s, const char *address, struct err *e)
{
	struct http *h = mem_alloc(sizeof(*h));
	int rc = h ? 0 : err_oom(e);

	if (!h)
		return rc;
	h->serve = s;
	h->listener = -1;
	if (!library_load(SONAME, http_names, (void **)(void *)&h->lib, COUNT(http_names)))
		rc = err_set(e, TALLY_ENOTSUP, "HTTP requires libmicrohttpd, and %s cannot be loaded; %s", SONAME,
			     LIBRARY_WHY("as root: apt-get install libmicrohttpd12"));
	if (rc == 0 && s->o.web)
		rc = web_open(&h->web, s->o.web, http_now(h), e);
	if (rc == 0)
		rc = http_socket_open(h, address, e);
	if (rc == 0)
		rc = http_start(h, e);
	if (rc < 0) {
		http_close(h);
		return rc;
	}
	serve_warn(s, &h->web);
	*ret = h;
	return 0;
}

/* A certificate that is no good leaves the service with the one that it had. */
int http_reload(struct http *h, struct err *e)
{
	struct web now, was = h->web;
	struct err ignored = { 0 };
	int rc = h->serve->o.web ? web_open(&now, h->serve->o.web, http_now(h), e) : -TALLY_EEND;

	if (rc < 0)
		return rc == -TALLY_EEND ? 0 : rc;
	if (!now.cert != !was.cert || !now.nusers != !was.nusers) {
		web_close(&now);
		return err_set(e, TALLY_EINVAL,
			       "%s: TLS and users can change, and not come or go, while the service runs",
			       h->serve->o.web);
	}
	http_stop(h);
	h->web = now;
	rc = http_start(h, e);
	if (rc < 0) {
		h->web = was;
		was = now;
		(void)http_start(h, &ignored);
	} else {
		web_take_rights(&h->web, &was);
		serve_warn(h->serve, &h->web);
	}
	web_close(&was);
	return rc;
}

void http_close(struct http *h)
{
	if (!h)
		return;
	http_stop(h);
	buf_free(&h->shared.text);
	if (h->listener >= 0)
		close(h->listener);
	web_close(&h->web);
	mem_free(h);
}

int http_fd(const struct http *h)
{
	const union MHD_DaemonInfo *info =
		h->daemon ? h->lib.get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;

	return info ? info->epoll_fd : -1;
}

int http_wait_ms(const struct http *h)
{
	const MHD_UNSIGNED_LONG_LONG most = h->nconnections == HTTP_CONNECTIONS ? CROWDED_NS / 1000000 : 1000;
	MHD_UNSIGNED_LONG_LONG ms;

	if (h->is_due)
		return 0;
	return h->daemon && h->lib.get_timeout(h->daemon, &ms) == MHD_YES ? (int)(ms > most ? most : ms) : -1;
}

void http_run(struct http *h)
{
	const bool was_full = h->nconnections == HTTP_CONNECTIONS;

	h->is_due = false;
	if (!h->daemon)
		return;
	(void)h->lib.run(h->daemon);
	/* A full library does not watch its listening socket, and watches it again only when it is called next. */
	if (was_full && h->nconnections < HTTP_CONNECTIONS)
		(void)h->lib.run(h->daemon);
	http_bound_connections(h);
}

uint16_t http_port(const struct http *h)
{
	return h->port;
}
