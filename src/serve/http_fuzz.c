/*
 * http_fuzz.c: what a client sends to the service, whatever it is: the bytes go to a socket, and the service answers as
 * it does.
 *
 * The first byte chooses a service: one with users, or one for everybody.  What comes back is an answer of HTTP; what
 * we said ourselves forbids a browser to guess its type.  A client that is done leaves nothing behind, so the next one
 * is answered.
 */
#include "serve/http_test_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SENT_MOST 8192u /* more goes into no socket's room at once */
#define TURNS 8
#define ANSWER_BYTES (256u << 10)

/* users: alice, whose password nobody knows. */
static void fuzz_open(struct http_tested *t, bool users)
{
	static const char config[] =
		"basic_auth_users:\n  alice: $2b$04$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a\n";
	struct err e = { 0 };

	assert(!tested_open(t, users ? "fuzz-users" : "fuzz"));
	assert(!users || !web_parse(&t->s->http->web, config, sizeof(config) - 1, &e));
}

/* Sends, and lets the service work until it has no more to say: what it said, 0-terminated. */
static size_t fuzz_ask(struct http_tested *f, const uint8_t *data, size_t size, char *answer)
{
	const int fd = tested_connect(f);
	size_t n = 0;

	assert(fd >= 0);
	if (size)
		assert(send(fd, data, size, MSG_NOSIGNAL) == (ssize_t)size);
	assert(!shutdown(fd, SHUT_WR));
	for (int turn = 0; turn < TURNS; turn++) {
		ssize_t got;

		http_run(f->s->http);
		live_end(f->s->live); /* a page would stay open */
		while ((got = recv(fd, answer + n, ANSWER_BYTES - 1 - n, 0)) > 0)
			n += (size_t)got;
		if (!got)
			break;
	}
	close(fd);
	http_run(f->s->http);
	answer[n] = '\0';
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char honest[] = "GET /help HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
	static struct http_tested service[2];
	static char answer[ANSWER_BYTES];
	struct http_tested *f;
	size_t n;

	for (int i = 0; i < 2 && !service[i].s; i++)
		fuzz_open(&service[i], i);
	if (!size || size > SENT_MOST)
		return 0;
	f = &service[data[0] & 1];
	n = fuzz_ask(f, data + 1, size - 1, answer);
	assert(!n || !strncmp(answer, "HTTP/1.", 7));
	if (!strncmp(answer, "HTTP/1.1 200", 12))
		assert(strstr(answer, "X-Content-Type-Options: nosniff") &&
		       strstr(answer, "Content-Security-Policy: "));
	if (data[0] & 1) /* nobody is let in */
		assert(!strstr(answer, "HTTP/1.1 200") && !strstr(answer, "HTTP/1.0 200"));
	if (size % 16 == 0) { /* now and then, for it doubles the time */
		(void)fuzz_ask(&service[0], (const uint8_t *)honest, sizeof(honest) - 1, answer);
		assert(!strncmp(answer, "HTTP/1.1 200", 12));
	}
	return 0;
}
