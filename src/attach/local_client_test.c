/* local_client_test.c: the client of the local protocol. */
#include "attach/local_toy_test_int.h"

/* ---- the client -------------------------------------------------------------------------------------------- */

static void where_nobody_listens_the_words_say_how_to_begin(void **state)
{
	struct local_client *c = NULL;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(local_connect(&c, "/nowhere/s", 0, NULL, &e), -TALLY_EIO);
	assert_string_equal(e.text, "no server at /nowhere/s; start 'tally machine MACHINE --listen /nowhere/s'");
	assert_null(c);
}

static void a_batch_is_answered_in_order(void **state)
{
	enum { N = 100000 };
	uint64_t id, taken = 0, asked = 0, word;
	struct visit v;
	int rc = 1;

	(void)state;
	visit_begin(&v);
	while (taken < N) {
		while (asked < N && (rc = local_ask(v.c, LOCAL_PING, &asked, sizeof(asked), &id, &v.e)) == 1)
			asked++;
		assert_true(rc >= 0);
		/* Answers wait here when ask() says 0, and then there are many. */
		for (uint64_t before = taken; taken < asked && (taken - before < 1000 || asked == N); taken++) {
			assert_int_equal(local_next(v.c, &v.a, -1, &v.e), 1);
			memcpy(&word, v.a.p, sizeof(word));
			assert_int_equal(word, taken);
		}
	}
	visit_end(&v);
}

static void answers_that_are_longer_than_their_room_all_come(void **state)
{
	struct visit v;
	uint64_t id;

	(void)state;
	visit_begin(&v);
	for (int depth = 1; depth <= 512; depth *= 2) {
		for (int i = 0; i < depth; i++)
			assert_int_equal(local_ask(v.c, LONG, NULL, 0, &id, &v.e), 1);
		for (int i = 0; i < depth; i++) {
			assert_int_equal(local_next(v.c, &v.a, -1, &v.e), 1);
			assert_int_equal(v.a.head.id, id - (uint64_t)(depth - 1 - i));
			assert_int_equal(v.a.head.bytes, LOCAL_FRAME_MOST);
		}
	}
	visit_end(&v);
}

static void a_refusal_comes_with_the_servers_words(void **state)
{
	const uint64_t sum[2] = { UINT64_MAX, 1 };
	struct visit v;

	(void)state;
	visit_begin(&v);
	assert_string_equal(local_welcomed(v.c)->platform, "toy");
	assert_int_equal(local_ask_and_wait(v.c, ADD, sum, sizeof(sum), &v.a, NULL, &v.e), -TALLY_EINVAL);
	assert_non_null(strstr(v.e.text, "s: 18446744073709551615 and 1 are too much"));
	assert_int_equal(strncmp(v.e.text, "unix:/tmp/", 10), 0);
	visit_end(&v);
}

static void a_server_that_dies_is_the_end(void **state)
{
	struct visit v;

	(void)state;
	visit_begin(&v);
	serving_end(&v.s);
	assert_int_equal(local_ask_and_wait(v.c, RELEASE, NULL, 0, &v.a, NULL, &v.e), -TALLY_EEND);
	assert_non_null(strstr(v.e.text, "the server has gone"));
	local_disconnect(v.c);
	scratch_gone(v.path);
}

static void a_server_that_says_nothing_is_not_waited_for_without_end(void **state)
{
	struct local_client *c = NULL;
	struct err e = { 0 };
	int fd[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	assert_int_equal(local_adopt(&c, fd[0], "unix:/silent", 0, &(struct local_wait){ .answer_ms = 1 }, &e),
			 -TALLY_EIO);
	assert_string_equal(e.text, "unix:/silent: no answer in 1 ms");
	close(fd[1]);
}

/* It takes what it is asked, and says nothing: not even a welcome, or nothing after it. Ends the test when it holds
 * us. */
static void a_server_that_stops_answering_holds_nobody_who_wants_to_end(void **state)
{
	const volatile int stop = 1;
	const struct local_wait w = { .answer_ms = 3600000, .last_ms = 1, .stop = &stop };
	struct local_welcome welcome = { .version = LOCAL_VERSION };
	struct local_client *c = NULL;
	struct local_answer a;
	struct script s = { .n = 0 };
	struct err e = { 0 };
	int fd[2];

	(void)state;
	alarm(60);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	assert_int_equal(local_adopt(&c, fd[0], "unix:/silent", 0, &w, &e), -TALLY_EIO);
	assert_string_equal(e.text, "unix:/silent: no answer in the last 1 ms before the end");
	close(fd[1]);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	put(&s, LOCAL_HELLO, 0, &welcome, sizeof(welcome));
	assert_int_equal(write(fd[1], s.p, s.n), s.n);
	assert_int_equal(local_adopt(&c, fd[0], "unix:/silent", 0, &w, &e), 0);
	for (int i = 0; i < 100; i++) {
		e = (struct err){ 0 };
		assert_int_equal(local_ask_and_wait(c, LOCAL_PING, "12345678", 8, &a, NULL, &e), -TALLY_EIO);
	}
	local_disconnect(c);
	close(fd[1]);
	alarm(0);
}

/* The first answer that does not come takes its time; those after it have the last silence together. */
static void after_an_answer_that_did_not_come_the_others_are_not_waited_for_each(void **state)
{
	const struct local_wait w = { .answer_ms = 1000, .last_ms = 1 };
	struct local_welcome welcome = { .version = LOCAL_VERSION };
	struct local_client *c = NULL;
	struct local_answer a;
	struct script s = { .n = 0 };
	struct err e = { 0 };
	int fd[2];

	(void)state;
	alarm(60);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	put(&s, LOCAL_HELLO, 0, &welcome, sizeof(welcome));
	assert_int_equal(write(fd[1], s.p, s.n), s.n);
	assert_int_equal(local_adopt(&c, fd[0], "unix:/silent", 0, &w, &e), 0);
	for (int i = 0; i < 120; i++) {
		e = (struct err){ 0 };
		assert_int_equal(local_ask_and_wait(c, LOCAL_PING, "12345678", 8, &a, NULL, &e), -TALLY_EIO);
		assert_string_equal(e.text, "unix:/silent: no answer in 1000 ms");
	}
	local_disconnect(c);
	close(fd[1]);
	alarm(0);
}

static void assert_client_refuses(const void *p, size_t n, int rc, const char *words)
{
	struct local_client *c = NULL;
	struct err e = { 0 };
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	assert_int_equal(write(fd[1], p, n), n);
	shutdown(fd[1], SHUT_WR);
	assert_int_equal(local_adopt(&c, fd[0], "unix:/odd", 0, NULL, &e), rc);
	if (!strstr(e.text, words))
		fail_msg("\"%s\" lacks \"%s\"", e.text, words);
	close(fd[1]);
}

static void a_server_of_another_protocol_is_refused(void **state)
{
	struct script s = { .n = 0 };
	struct local_welcome w = { .version = 3 };

	(void)state;
	assert_client_refuses("HTTP/1.1 400 Bad Request\r\n", 26, -TALLY_ECORRUPT, "not a tally server");
	assert_client_refuses("", 0, -TALLY_EEND,
			      "it speaks another protocol, e.g. that of a --vfio-user socket, or it has ended");
	put(&s, LOCAL_PING, 0, NULL, 0);
	assert_client_refuses(s.p, s.n, -TALLY_ECORRUPT, "answer to an unknown request");
	s.n = 0;
	put(&s, LOCAL_HELLO, 0, NULL, 0);
	assert_client_refuses(s.p, s.n, -TALLY_ECORRUPT, "WELCOME");
	s.n = 0;
	put(&s, LOCAL_HELLO, 0, &w, sizeof(w));
	assert_client_refuses(s.p, s.n, -TALLY_ENOTSUP, "version 3");
	s.n = 0;
	put(&s, LOCAL_HELLO, 0, "\033[2Jno\n", 7);
	s.p[6] = 4;
	assert_client_refuses(s.p, s.n, -TALLY_EPERM, "unix:/odd: ?[2Jno?");
}

static void words_longer_than_a_server_may_send_are_cut(void **state)
{
	struct script s = { .n = 0 };
	char words[LOCAL_WORDS_MOST + 200];

	(void)state;
	memset(words, 'w', sizeof(words));
	put(&s, LOCAL_HELLO, 0, words, sizeof(words));
	s.p[6] = 4;
	assert_client_refuses(s.p, s.n, -TALLY_EPERM, "unix:/odd: www");
}

static void every_failing_allocation_is_told(void **state)
{
	const long live = mem_live();
	char path[64];

	(void)state;
	scratch_path(path, sizeof(path));
	for (long n = 1;; n++) {
		struct toy t = { 0 };
		struct serving s = { 0 };
		struct local_client *c = NULL;
		struct err e = { 0 };

		mem_fail_at(n);
		int rc = server_open_local(&s.server, &toy_service, &t, path, &e);
		if (rc == 0) {
			serving_start(&s);
			rc = local_connect(&c, path, 0, NULL, &e);
			local_disconnect(c);
			serving_end(&s);
		}
		assert_int_equal(mem_live(), live);
		if (!mem_failed()) {
			assert_int_equal(rc, 0);
			break;
		}
		assert_int_equal(rc, -TALLY_ENOMEM);
	}
	mem_fail_at(0);
	scratch_gone(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_nobody_listens_the_words_say_how_to_begin),
		cmocka_unit_test(a_batch_is_answered_in_order),
		cmocka_unit_test(answers_that_are_longer_than_their_room_all_come),
		cmocka_unit_test(a_refusal_comes_with_the_servers_words),
		cmocka_unit_test(a_server_that_dies_is_the_end),
		cmocka_unit_test(a_server_that_says_nothing_is_not_waited_for_without_end),
		cmocka_unit_test(a_server_that_stops_answering_holds_nobody_who_wants_to_end),
		cmocka_unit_test(after_an_answer_that_did_not_come_the_others_are_not_waited_for_each),
		cmocka_unit_test(a_server_of_another_protocol_is_refused),
		cmocka_unit_test(words_longer_than_a_server_may_send_are_cut),
		cmocka_unit_test(every_failing_allocation_is_told),
	};

	return cmocka_run_group_tests_name("attach: local client", tests, NULL, NULL);
}
