/* profile_test.c: stacks that a service is asked for: which program's, of which time, and how many at once. Time is the
 * test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "serve/http_test_int.h"
#include "serve/traced_test_int.h"

#define SECOND UINT64_C(1000000000)
#define TURNS 16
#define PLACES 64

static const char counts[] = "BEGIN { @calls[\"begun\", stack()] = count(); @other[stack()] = min(1); } "
			     "tick-1s { @calls[\"ticked\", stack()] = count(); @bytes[\"b\", stack()] = sum(4096); }";

static int service_open(void **state)
{
	static struct http_tested t;

	*state = &t;
	return tested_open(&t, "profile");
}

static int service_close(void **state)
{
	tested_close(*state);
	return mem_live() == 0 ? 0 : -1;
}

static void service_work(struct http_tested *t)
{
	for (int turn = 0; turn < TURNS; turn++)
		http_run(t->s->http);
}

static int client_ask(struct http_tested *t, const char *path)
{
	char words[256];
	const int n = snprintf(words, sizeof(words), "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path);
	const int fd = tested_connect(t);

	assert_true(fd >= 0);
	assert_int_equal(send(fd, words, (size_t)n, MSG_NOSIGNAL), n);
	service_work(t);
	return fd;
}

/* What it was answered: "STATUS BODY"; "": nothing as yet, or only that it is over. */
static const char *client_heard(int fd)
{
	static char answer[8192];
	char *body;
	ssize_t n = recv(fd, answer, sizeof(answer) - 1, 0);

	answer[n > 0 ? n : 0] = '\0';
	body = strstr(answer, "\r\n\r\n");
	if (!body)
		return "";
	memmove(answer, answer + strlen("HTTP/1.1 "), 4);
	memmove(answer + 4, body + 4, strlen(body + 4) + 1);
	return answer;
}

#define ANSWER(t, path, want)                                  \
	do {                                                   \
		const int asks = client_ask(t, path);          \
		assert_string_equal(client_heard(asks), want); \
		close(asks);                                   \
		service_work(t);                               \
	} while (0)

static void without_a_time_all_that_was_counted_is_the_answer(void **state)
{
	struct http_tested *t = *state;
	struct program *p = traced_open(t->s, "/x/one.d", counts);

	ANSWER(t, "/folded", "200 begun 1\n");
	traced_tick(p);
	traced_tick(p);
	ANSWER(t, "/folded?aggregation=calls", "200 begun 1\nticked 2\n");
	ANSWER(t, "/folded?program=one&aggregation=bytes&seconds=0", "200 b 8192\n");
}

static void who_asks_for_what_is_not_there_is_told_what_is(void **state)
{
	static const char
		nothing[] = "404 no running program has an aggregation that adds up and has a stack in its key\n",
		other[] = "404 no running program has an aggregation of this name that adds up and has a stack in "
			  "its key\n";
	struct http_tested *t = *state;

	ANSWER(t, "/folded", nothing);
	(void)traced_open(t->s, "/x/plain.d", "BEGIN { @ = count(); @low[stack()] = min(1); @calls[1] = count(); }");
	ANSWER(t, "/folded", nothing);
	ANSWER(t, "/folded?aggregation=low", other);
	(void)traced_open(t->s, "/x/one.d", counts);
	ANSWER(t, "/folded", "200 begun 1\n");
	ANSWER(t, "/folded?program=plain", "404 no such program has stacks; add program=NAME, of: one\n");
	ANSWER(t, "/folded?aggregation=other",
	       "404 no running program has an aggregation of this name that adds up and has a stack in its key; "
	       "there is: calls, bytes\n");
	(void)traced_open(t->s, "/x/two.d", "BEGIN { @calls[\"second\", stack()] = count(); }");
	ANSWER(t, "/folded", "404 several programs have stacks; add program=NAME, of: one, two\n");
	ANSWER(t, "/folded?program=three", "404 no such program has stacks; add program=NAME, of: one, two\n");
	ANSWER(t, "/folded?program=two", "200 second 1\n");
	ANSWER(t, "/folded?aggregation=bytes", "200 ");
	ANSWER(t, "/debug/pprof/profile?seconds=0",
	       "404 several programs have stacks; add program=NAME, of: one, two\n");
}

static void a_time_is_a_number_of_seconds_up_to_an_hour(void **state)
{
	static const char refused[] = "400 seconds: expected a whole number from 0 to 3600\n";
	struct http_tested *t = *state;
	int fd;

	(void)traced_open(t->s, "/x/one.d", counts);
	ANSWER(t, "/folded?seconds=3601", refused);
	ANSWER(t, "/folded?seconds=x", refused);
	ANSWER(t, "/folded?seconds=-1", refused);
	ANSWER(t, "/debug/pprof/profile?seconds=1.5", refused);
	fd = client_ask(t, "/folded?seconds=3600");
	assert_string_equal(client_heard(fd), "");
	assert_int_equal(profiles_work(t->s->profiles, t->now_ns + 1), 3600000);
	close(fd);
}

static void with_a_time_the_answer_has_what_was_counted_in_it(void **state)
{
	struct http_tested *t = *state;
	struct program *p = traced_open(t->s, "/x/one.d", counts);
	int fd, later;

	traced_tick(p);
	assert_int_equal(profiles_work(t->s->profiles, t->now_ns), -1);
	fd = client_ask(t, "/folded?aggregation=calls&seconds=2");
	later = client_ask(t, "/folded?aggregation=calls&seconds=3");
	traced_tick(p);
	traced_tick(p);
	assert_int_equal(profiles_work(t->s->profiles, t->now_ns), 2001);
	t->now_ns += 2 * SECOND - 1;
	assert_int_equal(profiles_work(t->s->profiles, t->now_ns), 1);
	service_work(t);
	assert_string_equal(client_heard(fd), "");
	t->now_ns++;
	assert_int_equal(profiles_work(t->s->profiles, t->now_ns), 1001); /* the other one's */
	service_work(t);
	assert_string_equal(client_heard(fd), "200 ticked 2\n");
	assert_string_equal(client_heard(later), "");
	traced_tick(p);
	t->now_ns += 5 * SECOND; /* late is late, and no less */
	assert_int_equal(profiles_work(t->s->profiles, t->now_ns), -1);
	service_work(t);
	assert_string_equal(client_heard(later), "200 ticked 3\n");
	close(fd);
	close(later);
}

/* It is what it was in the first reading: a difference of nothing. */
static void what_was_cleared_meanwhile_is_what_was_counted_since(void **state)
{
	struct http_tested *t = *state;
	struct program *p = traced_open(t->s, "/x/one.d",
					"tick-1s { i++; @calls[\"cleared\", stack()] = count(); "
					"@kept[\"left\", stack()] = sum(i); @kept[\"gone\", stack()] = sum(1); }"
					"tick-1s /i == 2/ { clear(@calls); trunc(@kept, 1); }");
	int calls, kept;

	traced_tick(p);
	calls = client_ask(t, "/folded?aggregation=calls&seconds=2");
	kept = client_ask(t, "/folded?aggregation=kept&seconds=2");
	traced_tick(p);
	traced_tick(p);
	t->now_ns += 2 * SECOND;
	assert_int_equal(profiles_work(t->s->profiles, t->now_ns), -1);
	service_work(t);
	assert_string_equal(client_heard(calls), "200 cleared 1\n");
	assert_string_equal(client_heard(kept), "200 gone 1\nleft 5\n");
	close(calls);
	close(kept);
}

/* The loop waits for what is due, and does not sleep over a connection that was resumed. */
static void who_waited_for_his_time_is_answered_at_once_and_told_how_long_it_was(void **state)
{
	struct http_tested *t = *state;
	char answer[2048];
	ssize_t n;
	int fd;

	(void)traced_open(t->s, "/x/one.d", counts);
	fd = client_ask(t, "/folded?aggregation=calls&seconds=2");
	assert_true(http_wait_ms(t->s->http) != 0);
	t->now_ns += 2 * SECOND + 34567890;
	assert_int_equal(profiles_work(t->s->profiles, t->now_ns), -1);
	assert_int_equal(http_wait_ms(t->s->http), 0);
	service_work(t);
	n = recv(fd, answer, sizeof(answer) - 1, 0);
	assert_true(n > 0);
	answer[n] = '\0';
	assert_non_null(strstr(answer, "\r\nTally-Duration: 2.034\r\n"));
	assert_true(http_wait_ms(t->s->http) != 0);
	close(fd);
}

static void stacks_of_a_sum_below_0_are_left_out_of_folded_ones_aloud(void **state)
{
	static const char *const row[][2] = {
		{ "/folded?aggregation=use", "\r\nTally-Left-Out: 1\r\n" },
		{ "/folded?aggregation=more", NULL },
		{ "/debug/pprof/profile?seconds=0", NULL },
	};
	struct http_tested *t = *state;

	(void)traced_open(t->s, "/x/one.d",
			  "BEGIN { @use[\"less\", stack()] = sum(-4); @use[\"more\", stack()] = sum(3); "
			  "@more[\"m\", stack()] = sum(3); }");
	ANSWER(t, "/folded?aggregation=use", "200 more 3\n");
	for (size_t i = 0; i < COUNT(row); i++) {
		const int fd = client_ask(t, row[i][0]);
		char answer[2048];
		const ssize_t n = recv(fd, answer, sizeof(answer) - 1, 0);

		assert_true(n > 0);
		answer[n] = '\0';
		if (!strstr(answer, row[i][1] ? row[i][1] : "200 OK") ||
		    (!row[i][1] && strstr(answer, "Tally-Left-Out")))
			fail_msg("%s: %s", row[i][0], answer);
		close(fd);
		service_work(t);
	}
}

static void a_profile_of_pprof_takes_half_a_minute_unless_said(void **state)
{
	struct http_tested *t = *state;
	int fd;

	(void)traced_open(t->s, "/x/one.d", counts);
	fd = client_ask(t, "/debug/pprof/profile?aggregation=calls");
	assert_int_equal(profiles_work(t->s->profiles, t->now_ns), 30001);
	t->now_ns += 30 * SECOND;
	assert_int_equal(profiles_work(t->s->profiles, t->now_ns), -1);
	service_work(t);
	assert_memory_equal(client_heard(fd), "200 \x1f\x8b", 6); /* gzip */
	close(fd);
}

static void a_program_that_ended_or_was_replaced_meanwhile_has_no_profile(void **state)
{
	struct http_tested *t = *state;
	struct program *p = traced_open(t->s, "/x/one.d", counts);
	struct tally_trace *trace = p->trace;

	for (int i = 0; i < 2; i++) {
		const int fd = client_ask(t, "/folded?aggregation=calls&seconds=1");

		if (i == 0)
			p->generation++;
		else
			p->trace = NULL;
		t->now_ns += SECOND;
		(void)profiles_work(t->s->profiles, t->now_ns);
		service_work(t);
		assert_string_equal(client_heard(fd), "503 the program has ended or was replaced meanwhile\n");
		p->trace = trace;
		close(fd);
	}
}

static void so_many_profiles_are_taken_at_once_and_one_that_is_over_leaves_its_place(void **state)
{
	static const char full[] = "503 64 profiles are being taken already; try again later\n";
	static const char path[] = "/folded?aggregation=calls&seconds=60";
	struct http_tested *t = *state;
	int fd[PLACES], more;

	(void)traced_open(t->s, "/x/one.d", counts);
	for (size_t i = 0; i < COUNT(fd); i++)
		fd[i] = client_ask(t, path);
	ANSWER(t, path, full);
	close(fd[20]); /* a client that does not wait is seen to be gone at its time */
	t->now_ns += 60 * SECOND;
	(void)profiles_work(t->s->profiles, t->now_ns);
	service_work(t);
	for (size_t i = 0; i < COUNT(fd); i++) {
		if (i == 20)
			continue;
		assert_string_equal(client_heard(fd[i]), "200 ");
		close(fd[i]);
	}
	service_work(t);
	for (size_t i = 0; i < COUNT(fd); i++) {
		fd[i] = client_ask(t, path);
		assert_string_equal(client_heard(fd[i]), "");
	}
	ANSWER(t, path, full);
	profiles_resume(t->s->profiles); /* as before a reload: whoever waits is answered at once */
	service_work(t);
	for (size_t i = 0; i < COUNT(fd); i++) {
		assert_string_equal(client_heard(fd[i]), "200 ");
		close(fd[i]);
	}
	more = client_ask(t, path);
	assert_string_equal(client_heard(more), "");
	close(more);
}

/* It is refused or ended, or has all; never half. Memory runs out in the only reading, in the first of two, in the
 * second. */
static void memory_that_runs_out_leaves_no_half_profile(void **state)
{
	static const char failed_words[] = "500 failed to read the program's aggregations\n";
	struct http_tested *t = *state;
	struct program *p = traced_open(t->s, "/x/one.d", counts);
	uint32_t ticks = 0, refused[3] = { 0 };

	for (int which = 0; which < 3; which++)
		for (long n = 1, failed = 1; failed; n++) {
			char whole[64] = "200 ticked 1\n";
			const char *heard;
			int fd;

			mem_fail_at(which < 2 ? n : 0);
			fd = client_ask(t, which ? "/folded?aggregation=calls&seconds=1" : "/folded?aggregation=calls");
			failed = mem_failed();
			mem_fail_at(0);
			if (which == 0)
				snprintf(whole, sizeof(whole), ticks ? "200 begun 1\nticked %u\n" : "200 begun 1\n",
					 ticks);
			traced_tick(p);
			ticks++;
			mem_fail_at(which == 2 ? n : 0);
			t->now_ns += SECOND;
			(void)profiles_work(t->s->profiles, t->now_ns);
			service_work(t);
			failed |= mem_failed();
			mem_fail_at(0);
			heard = client_heard(fd);
			refused[which] += !strcmp(heard, failed_words);
			if (strcmp(heard, whole) != 0 && (!failed || (*heard && strcmp(heard, failed_words) != 0)))
				fail_msg("%d, allocation %ld: %s", which, n, heard);
			close(fd);
			service_work(t);
		}
	assert_true(refused[0] > 0 && refused[1] > 0 && refused[2] > 0);
}

#define WITH_SERVICE(test) cmocka_unit_test_setup_teardown(test, service_open, service_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVICE(without_a_time_all_that_was_counted_is_the_answer),
		WITH_SERVICE(who_asks_for_what_is_not_there_is_told_what_is),
		WITH_SERVICE(a_time_is_a_number_of_seconds_up_to_an_hour),
		WITH_SERVICE(with_a_time_the_answer_has_what_was_counted_in_it),
		WITH_SERVICE(what_was_cleared_meanwhile_is_what_was_counted_since),
		WITH_SERVICE(who_waited_for_his_time_is_answered_at_once_and_told_how_long_it_was),
		WITH_SERVICE(stacks_of_a_sum_below_0_are_left_out_of_folded_ones_aloud),
		WITH_SERVICE(a_profile_of_pprof_takes_half_a_minute_unless_said),
		WITH_SERVICE(a_program_that_ended_or_was_replaced_meanwhile_has_no_profile),
		WITH_SERVICE(so_many_profiles_are_taken_at_once_and_one_that_is_over_leaves_its_place),
		WITH_SERVICE(memory_that_runs_out_leaves_no_half_profile),
	};

	return cmocka_run_group_tests_name("profiles", tests, NULL, NULL);
}
