/*
 * http.c: libmicrohttpd, which the service loads when it starts: nothing else of tally needs it.
 *
 * The library does HTTP; here stand only which requests there are and what bounds a client.  All runs in the
 * service's one thread: libmicrohttpd hands out a descriptor, and is called when that is readable.  A client costs at most
 * CONNECTION_BYTES and SILENCE_S of patience, and there are at most CONNECTIONS of them; requests have no body.
 *
 * Without TLS and users it listens on the loopback network alone.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "base/file.h"
#include "serve/http_int.h"

#define SONAME "libmicrohttpd.so.12"
LIBRARY_NOTE("http", "tally serve", "recommended", SONAME);

#define CONNECTIONS 256u
#define CONNECTION_BYTES (16u << 10)
#define SILENCE_S 10u

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
		if (IN6_IS_ADDR_LOOPBACK(&ret->v6.sin6_addr))
			return 0;
	} else if (!v6 && inet_pton(AF_INET, host, &ret->v4.sin_addr) == 1) {
		ret->v4.sin_family = AF_INET;
		ret->v4.sin_port = htons((uint16_t)port);
		if (ntohl(ret->v4.sin_addr.s_addr) >> 24 == 127)
			return 0;
	} else {
		return err_set(e, TALLY_EINVAL, "invalid address '%s' (expected e.g. 127.0.0.1:%d or [::1]:%d)", text,
			       TALLY_SERVE_PORT, TALLY_SERVE_PORT);
	}
	return err_set(
		e, TALLY_EINVAL,
		"%s is no loopback address: the service has neither TLS nor users; put a proxy that has them in front",
		host);
}

int http_address(const char *text, struct err *e)
{
	union http_socket s;

	return http_parse_address(text, &s, e);
}

/* ---- answers --------------------------------------------------------------------------- */

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
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		lib->add_response_header(r, "Allow", "GET, HEAD");
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
	const char *what;
} http_paths[] = {
#define PATH(path, get, what) { path, get, what },
#include "serve/path.def"
#undef PATH
};

enum MHD_Result http_get_index(struct http_request *q)
{
	struct buf body = { 0 };

	buf_puts(&body, "tally serve\n\n");
	for (size_t i = 0; i < COUNT(http_paths); i++)
		buf_printf(&body, "%-10s %s\n", http_paths[i].path, http_paths[i].what);
	return http_answer(q, MHD_HTTP_OK, "text/plain; charset=utf-8", NULL, &body);
}

enum MHD_Result http_get_metrics(struct http_request *q)
{
	const char *accept = q->http->lib.lookup_connection_value(q->connection, MHD_HEADER_KIND, "Accept");
	const enum format f = format_accepted(accept, accept ? strlen(accept) : 0);
	struct buf body = { 0 };

	if (serve_metrics(q->http->serve, f, &body) < 0)
		body.failed = true;
	return http_answer(q, MHD_HTTP_OK, format_content_type(f), NULL, &body);
}

enum MHD_Result http_get_status(struct http_request *q)
{
	struct buf body = { 0 };

	if (serve_status(q->http->serve, &body) < 0)
		body.failed = true;
	return http_answer(q, MHD_HTTP_OK, "application/json", NULL, &body);
}

/* libmicrohttpd calls it with the headers, once more for the request, and after each time that it was suspended. */
static enum MHD_Result http_take_request(void *arg, struct MHD_Connection *c, const char *url, const char *method,
					 const char *version, const char *upload, size_t *upload_size, void **state)
{
	struct http_request *q = *state;

	(void)version;
	(void)upload;
	if (!q) {
		q = mem_alloc(sizeof(*q));
		if (!q)
			return MHD_NO;
		*q = (struct http_request){ .http = arg, .connection = c };
		*state = q;
		return MHD_YES;
	}
	if (*upload_size) { /* nothing is taken from a client */
		*upload_size = 0;
		return MHD_YES;
	}
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return http_say(q, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are answered");
	for (size_t i = 0; i < COUNT(http_paths); i++)
		if (!strcmp(url, http_paths[i].path))
			return http_paths[i].get(q);
	return http_say(q, MHD_HTTP_NOT_FOUND, "there is no such page; / lists what there is");
}

static void http_end_request(void *arg, struct MHD_Connection *c, void **state, enum MHD_RequestTerminationCode why)
{
	struct http_request *q = *state;

	(void)arg;
	(void)c;
	(void)why;
	if (q && q->state_free)
		q->state_free(q->state);
	mem_free(q);
	*state = NULL;
}

/* ---- life ------------------------------------------------------------------------------ */

int http_open(struct http **ret, struct tally_serve *s, const char *address, struct err *e)
{
	struct http *h = mem_alloc(sizeof(*h));
	const union MHD_DaemonInfo *info;
	union http_socket at;
	int rc = h ? http_parse_address(address, &at, e) : err_oom(e);

	if (rc < 0) {
		mem_free(h);
		return rc;
	}
	h->serve = s;
	if (!library_load(SONAME, http_names, (void **)(void *)&h->lib, COUNT(http_names))) {
		mem_free(h);
		return err_set(e, TALLY_ENOTSUP, "HTTP requires libmicrohttpd, and %s cannot be loaded; %s", SONAME,
			       LIBRARY_WHY("as root: apt-get install libmicrohttpd12"));
	}
	errno = 0;
	h->daemon = h->lib.start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME |
						(at.any.sa_family == AF_INET6 ? MHD_USE_IPv6 : 0),
					0, NULL, NULL, http_take_request, h, MHD_OPTION_SOCK_ADDR, &at.any,
					MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS, MHD_OPTION_NOTIFY_COMPLETED,
					http_end_request, h, MHD_OPTION_CONNECTION_TIMEOUT, SILENCE_S,
					MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_END);
	if (!h->daemon) {
		const int why = errno;

		mem_free(h);
		return err_set(e,
			       why == EADDRINUSE ? TALLY_EBUSY :
			       why == EACCES     ? TALLY_EPERM :
						   TALLY_EIO,
			       "failed to listen on %s: %s", address,
			       why == EADDRINUSE ? "another process has the port; choose one with --listen" :
						   strerror(why));
	}
	info = h->lib.get_daemon_info(h->daemon, MHD_DAEMON_INFO_BIND_PORT);
	h->port = info ? info->port : 0;
	*ret = h;
	return 0;
}

void http_close(struct http *h)
{
	if (!h)
		return;
	h->lib.stop_daemon(h->daemon);
	mem_free(h);
}

int http_fd(const struct http *h)
{
	const union MHD_DaemonInfo *info = h->lib.get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);

	return info ? info->epoll_fd : -1;
}

int http_wait_ms(const struct http *h)
{
	MHD_UNSIGNED_LONG_LONG ms;

	return h->lib.get_timeout(h->daemon, &ms) == MHD_YES ? (int)(ms > 1000 ? 1000 : ms) : -1;
}

void http_run(struct http *h)
{
	(void)h->lib.run(h->daemon);
}

uint16_t http_port(const struct http *h)
{
	return h->port;
}
