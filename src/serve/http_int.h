/*
 * http_int.h: what the files share that answer requests: libmicrohttpd's functions, a request, an answer.
 *
 *	http.c     addresses, connections, the table of paths (path.def)
 *
 * A path is a row of path.def and a function http_get_NAME. It queues an answer and returns what libmicrohttpd said to
 * that. One that has none yet suspends the connection and returns MHD_YES; it is called again once the connection is
 * resumed.
 */
#ifndef TALLY_SERVE_HTTP_INT_H
#define TALLY_SERVE_HTTP_INT_H

#include <sys/socket.h>

#include <microhttpd.h>

#include "serve/serve_int.h"
#include "serve/web_int.h"

/* clang-format off */
#define HTTP_FUNCTIONS(X) \
	X(start_daemon) X(stop_daemon) X(get_daemon_info) X(run) X(get_timeout) X(queue_response) \
	X(create_response_from_buffer) X(create_response_from_callback) X(destroy_response) \
	X(add_response_header) X(lookup_connection_value) X(get_connection_values) X(basic_auth_get_username_password) X(free) \
	X(suspend_connection) X(resume_connection) X(get_connection_info) X(set_connection_option)
/* clang-format on */
struct http_library {
#define X(name) __typeof__(&MHD_##name) name;
	HTTP_FUNCTIONS(X)
#undef X
};

#define HTTP_CONNECTIONS 256u
struct http_connection {
	bool is_open;
	bool lasts; /* its request takes its time by design: a page that is open, a profile that is taken */
	int fd;
	uint64_t since_ns; /* when its request could begin, or its headers were there */
};
struct http {
	struct http_library lib;
	struct MHD_Daemon *daemon;
	struct tally_serve *serve;
	struct web web;
	struct login login; /* stays when TLS and users change */
	int listener;       /* the daemon has a copy, so that it can be started again */
	uint16_t port;
	struct http_connection connection[HTTP_CONNECTIONS];
	uint32_t nconnections;
	struct http_reading { /* of /metrics, which many who ask at a time share */
		struct buf text;
		enum format format;
		uint64_t ns;
	} shared;
	bool is_due; /* a connection was resumed since the daemon ran last */
};

/* From its headers to the last byte of its answer, or until the client goes away. */
struct http_request {
	struct http *http;
	struct MHD_Connection *connection;
	/* the path's own, NULL at first; state_free, if set, gets it when the request is over, however it ends */
	void *state;
	void (*state_free)(void *state);
	/* headers of the answer; "": none */
	char duration[24]; /* of which time it is, in seconds */
	char left_out[24]; /* how many stacks it has not, since their sum is below 0 */
};
/* Of a Host header: "localhost", "127.0.0.1:7347", "[::1]"; an address is itself, whatever a name server says. */
bool http_is_loopback_name(const char *host);
/* From now on the request may take as long as it likes, or as long as others. */
void http_last(struct http_request *q, bool lasts);
/* The connection waits, and is no longer asked for; it is served again when http_run() is called after http_resume(),
 * which is due at once. */
void http_suspend(struct http *h, struct MHD_Connection *c);
void http_resume(struct http *h, struct MHD_Connection *c);
/* The query's value of this name; NULL: it has none. */
const char *http_query(const struct http_request *q, const char *name);
/* Sends body, which is freed. policy: the Content-Security-Policy; NULL: nothing may be loaded, as fits all but a
 * page. */
enum MHD_Result http_answer(struct http_request *q, unsigned status, const char *type, const char *policy,
			    struct buf *body);
enum MHD_Result http_say(struct http_request *q, unsigned status, const char *words); /* a line of plain text */
/* Sends r with the headers that all answers have, and releases it; r may come as it is read
 * (create_response_from_callback). */
enum MHD_Result http_send(struct http_request *q, unsigned status, const char *type, const char *policy,
			  struct MHD_Response *r);

#define PATH(path, get, keys, what) enum MHD_Result get(struct http_request *q);
#include "serve/path.def"
#undef PATH

#endif
