/* Tests of http.c: how long a client may hold a place. Time is the test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <poll.h>

#include "serve/http_test_int.h"

#define SECOND UINT64_C(1000000000)
#define TURNS 64

static void http_work(struct http_tested *t)
{
	for (int turn = 0; turn < TURNS; turn++)
		http_run(t->s->http);
}

static int http_test_open(void **state)
{
	static struct http_tested t;

	*state = &t;
	return tested_open(&t, "test");
}

static int http_test_close(void **state)
{
	tested_close(*state);
	return 0;
}

static int client_say(const struct http_tested *t, const char *words)
{
	const int fd = tested_connect(t);

	assert_true(fd >= 0);
	assert_int_equal(send(fd, words, strlen(words), MSG_NOSIGNAL), strlen(words));
	return fd;
}

/* Whether the service has ended this client: what it said before that is dropped. */
static bool client_is_gone(int fd)
{
	char bytes[4096];
	ssize_t n;

	while ((n = recv(fd, bytes, sizeof(bytes), 0)) > 0)
		;
	return n == 0;
}

static const char honest[] = "GET /help HTTP/1.1\r\nHost: x\r\n\r\n", half[] = "GET /help HTTP/1.1\r\nHost: ";

static bool client_is_answered(int fd)
{
	char bytes[16] = "";

	return recv(fd, bytes, sizeof(bytes) - 1, 0) == 15 && !memcmp(bytes, "HTTP/1.1 200 OK", 15);
}

static void only_names_of_the_loopback_network_are_its_own(void **state)
{
	static const char *const own[] = { "localhost", "localhost.",  "LOCALHOST.:7347",       "LocalHost:7347",
					   "127.0.0.1", "127.0.0.1:1", "127.255.255.255:65535", "[::1]",
					   "[::1]:7347" };
	static const char *const others[] = { "",
					      ":",
					      ":7347",
					      "evil.example",
					      "localhost.evil.example:7347",
					      "localhost..",
					      ".localhost",
					      "127.0.0.1.",
					      "[::1].",
					      "128.0.0.1",
					      "127.0.0.1.evil.example",
					      "127.0.0.1evil",
					      "[::1]evil",
					      "[::1",
					      "[::2]:7347",
					      "127.1",
					      "0x7f000001",
					      "localhost ",
					      "127.0.0.1.127.0.0.1:1" };

	(void)state;
	for (size_t i = 0; i < COUNT(own); i++)
		if (!http_is_loopback_name(own[i]))
			fail_msg("'%s' is refused", own[i]);
	for (size_t i = 0; i < COUNT(others); i++)
		if (http_is_loopback_name(others[i]))
			fail_msg("'%s' is taken", others[i]);
}

static void a_path_may_stand_behind_a_host(void **state)
{
	struct http_tested *t = *state;
	const int fd = client_say(t, "GET http://127.0.0.1:7347/help HTTP/1.1\r\nHost: x\r\n\r\n");

	http_work(t);
	assert_true(client_is_answered(fd));
	close(fd);
	http_work(t);
}

static void a_key_that_a_path_does_not_know_is_named(void **state)
{
	static const struct {
		const char *url, *status, *words;
	} row[] = {
		{ "/folded?second=5", "400", "unknown key 'second' (expected one of program, aggregation, seconds)\n" },
		{ "/folded?seconds=0&programs=x", "400", "unknown key 'programs' (expected one of program, " },
		{ "/debug/pprof/profile?,=1", "400", "unknown key ',' (expected" },
		{ "/folded?program%0a=1", "400", "unknown key 'program?' (expected" },
		{ "/folded?=1", "400", "unknown key '' (expected" },
		{ "/status?program=x", "400", "unknown key 'program': /status has no keys\n" },
		{ "/folded?program=x&aggregation=y&seconds=0", "404", "" },
		{ "/debug/pprof/profile?seconds=0", "404", "" },
		{ "/metrics?module=x&program=y", "200", "" }, /* params of a scrape */
		{ "/?utm_source=x", "200", "" },
		{ "/help?", "200", "" },
		{ "/nosuch?second=5", "404", "" },
	};
	struct http_tested *t = *state;

	for (size_t i = 0; i < COUNT(row); i++) {
		char words[256], bytes[4096] = "";
		int fd;

		snprintf(words, sizeof(words), "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", row[i].url);
		fd = client_say(t, words);
		http_work(t);
		assert_true(recv(fd, bytes, sizeof(bytes) - 1, 0) > 12);
		if (strncmp(bytes + 9, row[i].status, 3) != 0 || !strstr(bytes, row[i].words))
			fail_msg("%s: %s", row[i].url, bytes);
		close(fd);
		http_work(t);
	}
}

static void a_client_that_drips_has_half_a_minute_for_its_headers(void **state)
{
	struct http_tested *t = *state;
	const int fd = client_say(t, half);

	for (int turn = 0; turn < 5; turn++) {
		http_work(t);
		assert_false(client_is_gone(fd));
		t->now_ns += 5 * SECOND;
		assert_int_equal(send(fd, "x", 1, MSG_NOSIGNAL), 1);
	}
	http_work(t);
	assert_false(client_is_gone(fd));
	t->now_ns += 6 * SECOND;
	http_work(t);
	assert_true(client_is_gone(fd));
	close(fd);
}

/* Asks for more than its socket takes, and reads none of it. */
static void a_client_that_does_not_read_has_half_a_minute_for_its_answer(void **state)
{
	static const char page[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
	struct http_tested *t = *state;
	const int fd = client_say(t, page);

	for (int i = 0; i < 100; i++)
		assert_int_equal(send(fd, page, sizeof(page) - 1, MSG_NOSIGNAL), sizeof(page) - 1);
	http_work(t);
	t->now_ns += 29 * SECOND;
	http_work(t);
	assert_int_equal(t->s->http->nconnections, 1);
	t->now_ns += 2 * SECOND;
	http_work(t);
	assert_int_equal(t->s->http->nconnections, 0);
	close(fd);
}

/* Each request has its own time. */
static void a_client_that_asks_again_and_again_stays(void **state)
{
	struct http_tested *t = *state;
	const int fd = client_say(t, honest);

	for (int i = 0; i < 10; i++) {
		http_work(t);
		assert_true(client_is_answered(fd));
		assert_false(client_is_gone(fd));
		t->now_ns += 25 * SECOND;
		assert_int_equal(send(fd, honest, sizeof(honest) - 1, MSG_NOSIGNAL), sizeof(honest) - 1);
	}
	close(fd);
	http_work(t);
}

static void a_page_stays_open(void **state)
{
	struct http_tested *t = *state;
	const int fd = client_say(t, "GET /live HTTP/1.1\r\nHost: x\r\n\r\n");

	http_work(t);
	for (int i = 0; i < 10; i++) {
		t->now_ns += 25 * SECOND;
		(void)live_work(t->s->live, t->now_ns);
		http_work(t);
		assert_false(client_is_gone(fd));
	}
	close(fd);
	(void)live_work(t->s->live, t->now_ns += SECOND);
	http_work(t);
	(void)live_work(t->s->live, t->now_ns += SECOND);
	http_work(t);
	assert_int_equal(t->s->http->nconnections, 0);
}

static void a_clock_that_is_set_back_ends_nobody(void **state)
{
	struct http_tested *t = *state;
	const int fd = client_say(t, half);

	http_work(t);
	t->now_ns -= 3600 * SECOND;
	http_work(t);
	assert_false(client_is_gone(fd));
	t->now_ns += 31 * SECOND;
	http_work(t);
	assert_true(client_is_gone(fd));
	close(fd);
}

/* 1,000 half requests stand in line before an honest one: those that have a place lose it, one after the other. */
static void whoever_asks_is_answered_however_many_only_hold_a_place(void **state)
{
	struct http_tested *t = *state;
	int fd[1000], asks, turn = 0;

	for (size_t i = 0; i < COUNT(fd); i++) {
		fd[i] = client_say(t, half);
		http_run(t->s->http);
	}
	http_work(t);
	assert_int_equal(t->s->http->nconnections, HTTP_CONNECTIONS);
	asks = client_say(t, honest);
	http_work(t);
	assert_false(client_is_answered(asks)); /* as yet it stands in line */
	while (!client_is_answered(asks) && turn++ < 10 * (int)COUNT(fd)) {
		t->now_ns += SECOND / 100;
		for (int i = 0; i < 4; i++)
			http_run(t->s->http);
	}
	assert_true(turn < (int)COUNT(fd) + 200); /* a turn for each that came before, and their second */
	for (size_t i = 0; i < COUNT(fd); i++)
		close(fd[i]);
	close(asks);
	http_work(t);
	for (int i = 0; i < 100; i++)
		http_work(t);
	assert_int_equal(t->s->http->nconnections, 0);
}

/* As the service's loop does: the library is called when its descriptor is readable, and else when the time that it was
 * given is over. */
static void http_wait(struct http_tested *t)
{
	struct pollfd p = { .fd = http_fd(t->s->http), .events = POLLIN };
	const int ms = http_wait_ms(t->s->http);

	if (ms != 0 && poll(&p, 1, 0) == 0)
		t->now_ns += ms < 0 ? SECOND : (uint64_t)ms * (SECOND / 1000);
	http_run(t->s->http);
}

/* No further time passes between a client that lost its place and the next one that takes it. */
static void a_place_that_is_lost_is_taken_at_once(void **state)
{
	struct http_tested *t = *state;
	int fd[4 * HTTP_CONNECTIONS], asks;
	uint64_t began_ns;

	for (size_t i = 0; i < COUNT(fd); i++) {
		fd[i] = client_say(t, half);
		http_run(t->s->http);
	}
	http_work(t);
	asks = client_say(t, honest);
	began_ns = t->now_ns;
	while (!client_is_answered(asks)) {
		http_wait(t);
		assert_true(t->now_ns - began_ns < 10 * SECOND);
	}
	assert_int_equal(t->now_ns - began_ns, SECOND); /* a quarter for each of the four that come before */
	for (size_t i = 0; i < COUNT(fd); i++)
		close(fd[i]);
	close(asks);
	for (int i = 0; i < 100; i++)
		http_work(t);
	assert_int_equal(t->s->http->nconnections, 0);
}

/* The request may fail; the service stands, and answers the next one. */
static void memory_that_runs_out_ends_one_request_at_most(void **state)
{
	static const char *const path[] = {
		"/",     "/metrics", "/status", "/folded",         "/debug/pprof/profile?seconds=0",
		"/live", "/help",    "/nosuch", "/folded?second=5"
	};
	struct http_tested *t = *state;
	bool is_new;

	assert_int_equal(tally_serve_platform(t->s, "power", "gpci/dispatch_purr/", NULL), 0);
	for (size_t i = 0; i < COUNT(path); i++)
		for (long n = 1, failed = 1; failed; n++) {
			char words[128];
			int fd;

			assert_int_equal(program_load(t->s->program[0], &is_new), 0); /* again, if it failed */
			snprintf(words, sizeof(words), "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path[i]);
			fd = client_say(t, words);
			mem_fail_at(n);
			http_work(t);
			(void)live_work(t->s->live, t->now_ns += SECOND);
			http_work(t);
			failed = mem_failed();
			mem_fail_at(0);
			close(fd);
			http_work(t);
			fd = client_say(t, honest);
			http_work(t);
			assert_true(client_is_answered(fd));
			close(fd);
		}
	for (int i = 0; i < 4; i++) {
		(void)live_work(t->s->live, t->now_ns += SECOND);
		http_work(t);
	}
	assert_int_equal(t->s->http->nconnections, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_names_of_the_loopback_network_are_its_own),
		cmocka_unit_test(a_path_may_stand_behind_a_host),
		cmocka_unit_test(a_key_that_a_path_does_not_know_is_named),
		cmocka_unit_test(a_client_that_drips_has_half_a_minute_for_its_headers),
		cmocka_unit_test(a_client_that_does_not_read_has_half_a_minute_for_its_answer),
		cmocka_unit_test(a_client_that_asks_again_and_again_stays),
		cmocka_unit_test(a_page_stays_open),
		cmocka_unit_test(a_clock_that_is_set_back_ends_nobody),
		cmocka_unit_test(memory_that_runs_out_ends_one_request_at_most),
		cmocka_unit_test(whoever_asks_is_answered_however_many_only_hold_a_place),
		cmocka_unit_test(a_place_that_is_lost_is_taken_at_once),
	};

	return cmocka_run_group_tests(tests, http_test_open, http_test_close);
}
