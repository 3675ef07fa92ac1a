/*
 * push_run_test.c: profiles on their way to a server: what it is sent, again after how long, and what is lost.
 *
 * libcurl is the real one; the server is the test, which takes one request at a time and answers as it is told.  Time
 * is the test's, so nothing waits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/push_int.h"
#include "serve/traced_test_int.h"

#define SECOND UINT64_C(1000000000)
#define BEGAN UINT64_C(1700000000)
#define TURNS 20000
#define QUEUE 256

static const char counts[] = "tick-1s { @calls[\"ticked\", stack()] = count(); }";

struct pushing {
	struct tally_serve *s;
	struct program *p;
	struct push *push;
	struct traced_host host;
	int listener;
	uint16_t port;
	char url[64];
	char request[16384]; /* the last one: its head and its body */
};

static void pushing_listen(struct pushing *t)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons(t->port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);

	t->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_true(t->listener >= 0);
	assert_int_equal(setsockopt(t->listener, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int)), 0);
	assert_int_equal(bind(t->listener, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(t->listener, 8), 0);
	assert_int_equal(getsockname(t->listener, (struct sockaddr *)&at, &len), 0);
	t->port = ntohs(at.sin_port);
}

static int pushing_open(void **state)
{
	static struct pushing t;
	struct tally_serve_opts o = { .size = sizeof(o),
				      .clock = traced_host_clock,
				      .note = traced_host_note,
				      .arg = &t.host,
				      .push = t.url,
				      .push_seconds = 10,
				      .flags = TALLY_SERVE_FOLDED };

	t = (struct pushing){ .host.now_ns = BEGAN * SECOND };
	pushing_listen(&t);
	snprintf(t.url, sizeof(t.url), "http://127.0.0.1:%u//", t.port);
	if (tally_serve_open(&t.s, &o) < 0)
		return -1;
	t.p = traced_open(t.s, "/x/one.d", counts);
	*state = &t;
	return 0;
}

static int pushing_close(void **state)
{
	struct pushing *t = *state;

	push_close(t->push);
	t->s->push = NULL;
	tally_serve_close(t->s);
	if (t->listener >= 0)
		close(t->listener);
	return mem_live() == 0 ? 0 : -1;
}

/* Skips the test where there is no libcurl. */
static void pushing_begin(struct pushing *t)
{
	struct err e = { 0 };
	const int rc = push_open(&t->push, t->s, &e);

	if (rc == -TALLY_ENOTSUP)
		skip();
	assert_int_equal(rc, 0);
}

/* One firing is counted, and so many seconds later it is read. */
static void pushing_count(struct pushing *t, uint64_t seconds)
{
	traced_tick(t->p);
	t->host.now_ns += seconds * SECOND;
	push_read(t->push, false);
}

static void push_turn(struct pushing *t)
{
	struct pollfd p = { .fd = push_fd(t->push), .events = POLLIN };

	(void)poll(&p, 1, 1);
	push_run(t->push);
}

/* Takes the next request and answers it with this line of a status and these words; waits until libcurl has it. */
static void server_answers(struct pushing *t, const char *status, const char *words)
{
	char answer[1024];
	const char *length = NULL, *body = NULL;
	size_t have = 0;
	int fd = -1;
	ssize_t n;

	for (int turn = 0; turn < TURNS && fd < 0; turn++) {
		push_turn(t);
		fd = accept4(t->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	}
	assert_true(fd >= 0);
	for (int turn = 0; turn < TURNS; turn++) {
		n = recv(fd, t->request + have, sizeof(t->request) - 1 - have, 0);
		have += n > 0 ? (size_t)n : 0;
		t->request[have] = '\0';
		length = strstr(t->request, "Content-Length: ");
		body = strstr(t->request, "\r\n\r\n");
		if (length && body && strlen(body + 4) >= strtoul(length + 16, NULL, 10))
			break;
		push_turn(t);
	}
	assert_non_null(body);
	n = snprintf(answer, sizeof(answer), "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
		     status, strlen(words), words);
	assert_int_equal(send(fd, answer, (size_t)n, MSG_NOSIGNAL), n);
	close(fd);
	for (int turn = 0; turn < TURNS && push_wait_ms(t->push) >= 0; turn++) {
		struct buf b = { 0 };
		const char *at;

		push_turn(t);
		push_put_status(t->push, &b);
		at = strstr(b.p, words[0] ? "HTTP " : "\"reason\":\"\"");
		buf_free(&b);
		if (at)
			break;
	}
}

#define METRICS(t, pushed, refused, queue, waiting, tries) \
	pushing_says(t, __LINE__, pushed, refused, queue, waiting, tries)
static void pushing_says(struct pushing *t, int line, uint32_t pushed, uint32_t refused, uint32_t queue,
			 uint32_t waiting, uint32_t tries)
{
	const struct {
		const char *series;
		uint32_t n;
	} row[] = {
		{ "\ntally_profiles_pushed_total ", pushed },
		{ "\ntally_profiles_lost_total{cause=\"refused\"} ", refused },
		{ "\ntally_profiles_lost_total{cause=\"queue\"} ", queue },
		{ "\ntally_profiles_waiting ", waiting },
		{ "\ntally_push_tries_total ", tries },
	};
	struct buf b = { 0 };

	push_put_metrics(t->push, FORMAT_TEXT, &b);
	for (size_t i = 0; i < COUNT(row); i++) {
		const char *at = strstr(b.p, row[i].series);

		if (!at || strtoul(at + strlen(row[i].series), NULL, 10) != row[i].n)
			fail_msg("line %d: %s", line, b.p);
	}
	buf_free(&b);
}

static void what_was_counted_since_the_last_reading_is_sent(void **state)
{
	struct pushing *t = *state;
	char host[256] = "", want[512];

	pushing_begin(t);
	assert_int_equal(push_wait_ms(t->push), -1);
	pushing_count(t, 9); /* not yet due */
	METRICS(t, 0, 0, 0, 0, 0);
	assert_int_equal(push_wait_ms(t->push), -1);
	pushing_count(t, 1);
	METRICS(t, 0, 0, 0, 1, 0);
	assert_int_equal(push_wait_ms(t->push), 0);
	server_answers(t, "200 OK", "");
	METRICS(t, 1, 0, 0, 0, 1);
	(void)gethostname(host, sizeof(host) - 1);
	for (char *at = host; *at; at++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-", *at))
			*at = '_';
	snprintf(
		want, sizeof(want),
		"POST /ingest?name=tally-one%%7Baggregation%%3Dcalls%%2Chostname%%3D%s%%7D&from=%llu&until=%llu&format=folded&"
		"spyName=tally&units=samples&aggregationType=sum HTTP/1.1\r\n",
		host, (unsigned long long)BEGAN, (unsigned long long)BEGAN + 10);
	assert_memory_equal(t->request, want, strlen(want));
	assert_non_null(strstr(t->request, "\r\nUser-Agent: tally\r\n"));
	assert_non_null(strstr(t->request, "\r\nContent-Type: text/plain; charset=utf-8\r\n"));
	assert_string_equal(strstr(t->request, "\r\n\r\n"), "\r\n\r\nticked 2\n");
	t->host.now_ns += 10 * SECOND; /* nothing more was counted */
	push_read(t->push, false);
	METRICS(t, 1, 0, 0, 0, 1);
	pushing_count(t, 10);
	server_answers(t, "204 No Content", "");
	METRICS(t, 2, 0, 0, 0, 2);
	snprintf(want, sizeof(want), "&from=%llu&until=%llu&", (unsigned long long)BEGAN + 20,
		 (unsigned long long)BEGAN + 30);
	assert_non_null(strstr(t->request, want));
	assert_string_equal(strstr(t->request, "\r\n\r\n"), "\r\n\r\nticked 1\n");
	assert_string_equal(t->host.notes, "");
}

/* A profile with nothing else is not sent; the log has it once. */
static void stacks_of_a_sum_below_0_are_left_out_aloud(void **state)
{
	struct pushing *t = *state;
	struct buf b = { 0 };

	t->p = traced_open(t->s, "/x/two.d",
			   "BEGIN { @use[\"less\", stack()] = sum(-4); @use[\"more\", stack()] = sum(3); } "
			   "tick-1s { @use[\"less\", stack()] = sum(-1); }");
	pushing_begin(t);
	pushing_count(t, 10);
	METRICS(t, 0, 0, 0, 1, 0);
	server_answers(t, "200 OK", "");
	assert_string_equal(strstr(t->request, "\r\n\r\n"), "\r\n\r\nmore 3\n");
	pushing_count(t, 10);
	METRICS(t, 1, 0, 0, 0, 1);
	t->s->o.flags &= ~TALLY_SERVE_FOLDED; /* a profile of pprof alike */
	pushing_count(t, 10);
	METRICS(t, 1, 0, 0, 0, 1);
	assert_string_equal(t->host.notes,
			    "push: @use of two: stacks with a sum below 0 are left out, for servers of profiles keep "
			    "none; /debug/pprof/profile has them\n");
	push_put_status(t->push, &b);
	assert_non_null(strstr(b.p, "\"stacks_left_out\":3,"));
	buf_free(&b);
}

static void a_clock_that_is_set_back_reads_at_once(void **state)
{
	struct pushing *t = *state;

	pushing_begin(t);
	traced_tick(t->p);
	t->host.now_ns -= 3600 * SECOND;
	push_read(t->push, false);
	METRICS(t, 0, 0, 0, 1, 0);
	traced_tick(t->p);
	push_read(t->push, true); /* as before a reload */
	METRICS(t, 0, 0, 0, 2, 0);
}

/* After a second, two, four, up to a minute; a server that took one begins anew. */
static void a_server_at_fault_is_asked_again_later_and_later(void **state)
{
	static const struct {
		const char *status;
		uint32_t wait_ms;
	} row[] = {
		{ "500 Internal Server Error", 1000 },
		{ "503 Service Unavailable", 2000 },
		{ "429 Too Many Requests", 4000 },
		{ "408 Request Timeout", 8000 },
		{ "599 Odd", 16000 },
		{ "502 Bad Gateway", 32000 },
		{ "500 Internal Server Error", 60000 },
		{ "500 Internal Server Error", 60000 },
	};
	struct pushing *t = *state;
	uint32_t tries = 0;

	pushing_begin(t);
	pushing_count(t, 10);
	for (size_t i = 0; i < COUNT(row); i++) {
		server_answers(t, row[i].status, "HTTP too bad\r\nmore");
		METRICS(t, 0, 0, 0, 1, ++tries);
		assert_int_equal(push_wait_ms(t->push), row[i].wait_ms + 1);
		t->host.now_ns += row[i].wait_ms * (SECOND / 1000) - 1;
		assert_int_equal(push_wait_ms(t->push), 1);
		push_run(t->push);
		METRICS(t, 0, 0, 0, 1, tries); /* not a nanosecond too early */
		t->host.now_ns++;
		assert_int_equal(push_wait_ms(t->push), 0);
	}
	server_answers(t, "200 OK", "");
	METRICS(t, 1, 0, 0, 0, tries + 1);
	assert_string_equal(strstr(t->request, "\r\n\r\n"), "\r\n\r\nticked 1\n");
	assert_string_equal(t->host.notes, "push: the server does not take profiles: HTTP 500: HTTP too bad\n"
					   "push: the server takes profiles again\n");
	pushing_count(t, 10);
	server_answers(t, "500 Internal Server Error", "HTTP");
	assert_int_equal(push_wait_ms(t->push), 1001);
	t->host.now_ns -= 3600 * SECOND; /* the clock is set back: at once */
	assert_int_equal(push_wait_ms(t->push), 0);
}

static void what_a_server_refuses_is_lost_and_counted(void **state)
{
	static const char *const status[] = { "400 Bad Request", "404 Not Found", "499 Odd", "300 Multiple Choices",
					      "199 Odd" };
	struct pushing *t = *state;

	pushing_begin(t);
	for (uint32_t i = 0; i < 4; i++) {
		pushing_count(t, 10);
		server_answers(t, status[i], "HTTP so it is");
		METRICS(t, 0, i + 1, 0, 0, i + 1);
		assert_int_equal(push_wait_ms(t->push), -1);
	}
	assert_string_equal(t->host.notes,
			    "push: the server does not take profiles: HTTP 400: HTTP so it is\n"); /* once */
	pushing_count(t, 10);
	server_answers(t, "299 Odd", "");
	METRICS(t, 1, 4, 0, 0, 5);
	assert_non_null(strstr(t->host.notes, "\npush: the server takes profiles again\n"));
}

/* Of what a server says the first line is told, and 120 bytes of it. */
static void the_words_of_a_server_are_a_line_and_no_more_than_fit(void **state)
{
	struct pushing *t = *state;
	char words[300], want[512];
	struct buf b = { 0 };

	memset(words, 'w', sizeof(words));
	memcpy(words, "HTTP ", 5);
	words[sizeof(words) - 1] = '\0';
	pushing_begin(t);
	pushing_count(t, 10);
	server_answers(t, "500 Internal Server Error", words);
	snprintf(
		want, sizeof(want),
		",\"push\":{\"pushed\":0,\"refused\":0,\"dropped\":0,\"waiting\":1,\"stacks_left_out\":0,\"reason\":\"HTTP 500: %.120s\"}",
		words);
	push_put_status(t->push, &b);
	assert_string_equal(b.p, want);
	buf_free(&b);
}

/* The oldest go first; the one that is on its way stays. */
static void a_queue_that_is_full_loses_the_oldest_and_counts_them(void **state)
{
	struct pushing *t = *state;

	pushing_begin(t);
	for (uint32_t i = 0; i < QUEUE; i++)
		pushing_count(t, 10);
	METRICS(t, 0, 0, 0, QUEUE, 0);
	pushing_count(t, 10);
	METRICS(t, 0, 0, 1, QUEUE, 0);
	push_run(t->push); /* the second one is on its way */
	METRICS(t, 0, 0, 1, QUEUE, 1);
	pushing_count(t, 10);
	METRICS(t, 0, 0, 2, QUEUE, 1);
	server_answers(t, "200 OK", "");
	assert_non_null(strstr(t->request, "&from=1700000010&until=1700000020&"));
	METRICS(t, 1, 0, 2, QUEUE - 1, 2);
	server_answers(t, "200 OK", "");
	assert_non_null(strstr(t->request, "&from=1700000030&until=1700000040&"));
}

static void a_program_that_is_replaced_begins_anew(void **state)
{
	struct pushing *t = *state;

	pushing_begin(t);
	pushing_count(t, 10);
	server_answers(t, "200 OK", "");
	t->p->generation++; /* its aggregations are others, which begin at nothing */
	t->host.now_ns += 10 * SECOND;
	push_read(t->push, false);
	METRICS(t, 1, 0, 0, 1, 1);
	server_answers(t, "200 OK", "");
	assert_string_equal(strstr(t->request, "\r\n\r\n"), "\r\n\r\nticked 1\n");
}

static void at_the_end_what_did_not_reach_the_server_is_said(void **state)
{
	struct pushing *t = *state;

	pushing_begin(t);
	close(t->listener); /* nobody is there */
	t->listener = -1;
	pushing_count(t, 10);
	for (int turn = 0; turn < TURNS && !*t->host.notes; turn++)
		push_turn(t);
	assert_int_equal(strncmp(t->host.notes, "push: the server does not take profiles: ", 41), 0);
	METRICS(t, 0, 0, 0, 1, 1);
	*t->host.notes = '\0';
	push_end(t->push);
	assert_string_equal(t->host.notes, "push: 1 profile did not reach the server and is lost\n");
	METRICS(t, 0, 0, 0, 1, 2); /* it was tried once more */
	*t->host.notes = '\0';
	traced_tick(t->p); /* nobody has read that */
	push_end(t->push);
	assert_string_equal(t->host.notes, "push: 2 profiles did not reach the server and are lost\n");
}

static void memory_that_is_out_loses_no_count_in_silence(void **state)
{
	struct pushing *t = *state;
	uint32_t counted = 0, sent = 0;

	pushing_begin(t);
	for (long n = 1, failed = 1; failed; n++) {
		traced_tick(t->p);
		counted++;
		mem_fail_at(n);
		push_read(t->push, true);
		failed = mem_failed();
		mem_fail_at(0);
	}
	push_read(t->push, true);
	for (;;) {
		struct buf b = { 0 };
		bool more, lost;

		push_put_status(t->push, &b);
		more = !strstr(b.p, "\"waiting\":0");
		lost = !strstr(b.p, "\"dropped\":0");
		buf_free(&b);
		if (!more) {
			assert_true(lost ? sent < counted : sent == counted);
			break;
		}
		server_answers(t, "200 OK", "");
		sent += (uint32_t)strtoul(strstr(t->request, "\r\n\r\nticked ") + 11, NULL, 10);
	}
	assert_true(sent > 0);
}

static void memory_that_is_out_refuses_to_push(void **state)
{
	struct pushing *t = *state;

	pushing_begin(t);
	push_close(t->push);
	t->push = NULL;
	for (long n = 1;; n++) {
		const long live = mem_live();
		struct err e = { 0 };
		int rc;

		mem_fail_at(n);
		rc = push_open(&t->push, t->s, &e);
		mem_fail_at(0);
		if (rc == 0)
			break;
		assert_int_equal(rc, -TALLY_ENOMEM);
		push_close(t->push);
		t->push = NULL;
		assert_int_equal(mem_live(), live);
	}
}

static void who_pushes_nothing_waits_for_nothing(void **state)
{
	struct buf b = { 0 };

	(void)state;
	assert_int_equal(push_wait_ms(NULL), -1);
	assert_int_equal(push_fd(NULL), -1);
	push_read(NULL, true);
	push_run(NULL);
	push_end(NULL);
	push_close(NULL);
	push_put_metrics(NULL, FORMAT_TEXT, &b);
	push_put_status(NULL, &b);
	assert_int_equal(b.n, 0);
}

#define PUSHING(test) cmocka_unit_test_setup_teardown(test, pushing_open, pushing_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PUSHING(what_was_counted_since_the_last_reading_is_sent),
		PUSHING(stacks_of_a_sum_below_0_are_left_out_aloud),
		PUSHING(a_clock_that_is_set_back_reads_at_once),
		PUSHING(a_server_at_fault_is_asked_again_later_and_later),
		PUSHING(what_a_server_refuses_is_lost_and_counted),
		PUSHING(the_words_of_a_server_are_a_line_and_no_more_than_fit),
		PUSHING(a_queue_that_is_full_loses_the_oldest_and_counts_them),
		PUSHING(a_program_that_is_replaced_begins_anew),
		PUSHING(at_the_end_what_did_not_reach_the_server_is_said),
		PUSHING(memory_that_is_out_loses_no_count_in_silence),
		PUSHING(memory_that_is_out_refuses_to_push),
		cmocka_unit_test(who_pushes_nothing_waits_for_nothing),
	};

	return cmocka_run_group_tests_name("profiles on their way", tests, NULL, NULL);
}
