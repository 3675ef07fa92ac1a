/* file_test.c: windows and streams give the same bytes, within bounds. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"

#define SIZE (20u << 20)

/* What stands at an offset: no two neighbouring pages are alike. */
static uint8_t byte_at(uint64_t off)
{
	return (uint8_t)(off ^ off >> 8 ^ off >> 16);
}

static char *scratch(size_t n)
{
	char *path = strdup("/tmp/tally-file-test-XXXXXX");
	int fd = mkstemp(path);
	uint8_t *p = malloc(n + 1);

	assert_true(fd >= 0);
	for (size_t i = 0; i < n; i++)
		p[i] = byte_at(i);
	assert_int_equal(write(fd, p, n), n);
	close(fd);
	free(p);
	return path;
}

static void drop(char *path)
{
	unlink(path);
	free(path);
}

static void is_there(const struct bytes_in *in, uint64_t off, size_t n, size_t want)
{
	const uint8_t *p = NULL;

	assert_int_equal(in->at(in->arg, off, n, &p), want);
	for (size_t i = 0; i < want; i += i + 64 < want ? 61 : 1)
		assert_int_equal(p[i], byte_at(off + i));
}

static void a_file_gives_the_bytes_of_any_offset(void **state)
{
	char *path = scratch(SIZE + 3);
	struct bytes_in in = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(file_in_open(&in, path, &e), 0);
	assert_int_equal(in.size, SIZE + 3);
	for (uint64_t off = 0; off < SIZE; off += 700001)
		is_there(&in, off, BYTES_WINDOW, SIZE + 3 - off < BYTES_WINDOW ? SIZE + 3 - off : BYTES_WINDOW);
	is_there(&in, 5, 9, 9);
	is_there(&in, SIZE, 8, 3);
	is_there(&in, SIZE + 3, 8, 0);
	is_there(&in, UINT64_MAX - 2, BYTES_WINDOW, 0);
	file_in_close(&in);
	drop(path);
}

static void a_file_that_shrank_ends_where_it_ends_now(void **state)
{
	char *path = scratch(SIZE);
	struct bytes_in in = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(file_in_open(&in, path, &e), 0);
	is_there(&in, 0, 100, 100);
	assert_int_equal(truncate(path, SIZE - 4096), 0);
	is_there(&in, SIZE - 4100, 100, 4);
	is_there(&in, SIZE - 10, 10, 0);
	file_in_close(&in);
	drop(path);
}

/* With a mapped window this would be a SIGBUS. */
static void bytes_that_were_given_stay_when_the_file_shrinks(void **state)
{
	char *path = scratch(SIZE);
	struct bytes_in in = { 0 };
	const uint8_t *p = NULL;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(file_in_open(&in, path, &e), 0);
	assert_int_equal(in.at(in.arg, 4096, BYTES_WINDOW, &p), BYTES_WINDOW);
	assert_int_equal(truncate(path, 0), 0);
	for (size_t i = 0; i < BYTES_WINDOW; i += 4096)
		assert_int_equal(p[i], byte_at(4096 + i));
	assert_int_equal(in.at(in.arg, 4096 + BYTES_WINDOW, 8, &p), 0);
	assert_int_equal(in.at(in.arg, 0, 8, &p), 0);
	file_in_close(&in);
	drop(path);
}

static void a_missing_file_is_an_error_that_names_it(void **state)
{
	struct bytes_in in = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(file_in_open(&in, "/nowhere/x", &e), -TALLY_EIO);
	assert_non_null(strstr(e.text, "/nowhere/x: "));
	e = (struct err){ 0 };
	assert_int_equal(file_in_open(&in, "/tmp", &e), -TALLY_EIO);
	assert_string_equal(e.text, "/tmp: Is a directory");
	file_in_close(&in);
}

/* An end of a new pipe is standard input meanwhile. */
struct piped {
	int saved, fd[2];
};

static struct piped piped_begin(int end)
{
	struct piped p = { .saved = dup(0) }; /* -1: it is closed */

	assert_int_equal(pipe(p.fd), 0);
	assert_int_equal(dup2(p.fd[end], 0), 0);
	return p;
}

static void piped_end(const struct piped *p)
{
	if (p->saved >= 0)
		dup2(p->saved, 0);
	close(p->saved >= 0 ? p->saved : 0);
	close(p->fd[0]);
	close(p->fd[1]);
}

static void what_cannot_be_read_says_why(void **state)
{
	struct piped to_write = piped_begin(1);
	struct err e = { 0 };
	uint8_t *p = NULL;
	size_t n;

	(void)state;
	assert_int_equal(file_read_all("-", 100, &p, &n, &e), -TALLY_EIO);
	piped_end(&to_write);
	assert_string_equal(e.text, "- can't be read: Bad file descriptor");
	assert_null(p);
}

static void a_program_that_is_executed_does_not_have_what_is_read(void **state)
{
	struct piped to_read = piped_begin(0);
	struct bytes_in in = { 0 };
	struct err e = { 0 };
	int next = fcntl(0, F_DUPFD, 3), flags;

	(void)state;
	close(next);
	assert_int_equal(file_in_open(&in, "-", &e), 0);
	flags = fcntl(next, F_GETFD);
	file_in_close(&in);
	piped_end(&to_read);
	assert_int_equal(flags, FD_CLOEXEC);
}

struct source {
	uint64_t at, size;
	size_t most;
};

static int64_t source_read(void *arg, uint8_t *p, size_t n)
{
	struct source *s = arg;

	n = n < s->most ? n : s->most;
	n = n < s->size - s->at ? n : s->size - s->at;
	for (size_t i = 0; i < n; i++)
		p[i] = byte_at(s->at + i);
	s->at += n;
	return (int64_t)n;
}

static void a_stream_gives_the_same_and_looks_back_a_little(void **state)
{
	struct source s = { .size = SIZE + 3, .most = 65536 };
	struct bytes_in in = { 0 };
	const uint8_t *p;

	(void)state;
	assert_int_equal(stream_in_open(&in, source_read, &s), 0);
	assert_int_equal(in.size, UINT64_MAX);
	for (uint64_t off = 0; off < SIZE; off += 700001) {
		is_there(&in, off, BYTES_WINDOW, SIZE + 3 - off < BYTES_WINDOW ? SIZE + 3 - off : BYTES_WINDOW);
		is_there(&in, off > BYTES_KEEP ? off - BYTES_KEEP : 0, 17, 17);
	}
	is_there(&in, SIZE, 8, 3);
	is_there(&in, UINT64_MAX - 2, 8, 0);
	assert_int_equal(in.at(in.arg, 0, 1, &p), -TALLY_EIO);
	stream_in_close(&in);
}

static void an_offset_far_ahead_is_read_up_to(void **state)
{
	struct source s = { .size = SIZE, .most = 1000000 };
	struct bytes_in in = { 0 };

	(void)state;
	assert_int_equal(stream_in_open(&in, source_read, &s), 0);
	is_there(&in, SIZE - 5, 8, 5);
	stream_in_close(&in);
}

static void a_pipe_is_a_stream(void **state)
{
	struct bytes_in in = { 0 };
	struct err e = { 0 };
	int fd[2];
	uint8_t p[1000];

	(void)state;
	for (size_t i = 0; i < sizeof(p); i++)
		p[i] = byte_at(i);
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(fd[0], STDIN_FILENO); /* which is closed before main() */
	assert_int_equal(write(fd[1], p, sizeof(p)), sizeof(p));
	close(fd[1]);
	assert_int_equal(file_in_open(&in, "-", &e), 0);
	assert_int_equal(in.size, UINT64_MAX);
	is_there(&in, 10, 500, 500);
	is_there(&in, 900, 500, 100);
	file_in_close(&in);
	close(STDIN_FILENO);
}

static void what_is_written_and_patched_is_read(void **state)
{
	char *path = scratch(10);
	struct bytes_out out = { 0 };
	struct bytes_in in = { 0 };
	const uint8_t *p = NULL;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(file_out_open(&out, path, &e), 0);
	assert_int_equal(out.put(out.arg, "hello ", 6), 0);
	assert_int_equal(out.put(out.arg, "world", 5), 0);
	assert_int_equal(out.patch(out.arg, 0, "J", 1), 0);
	assert_int_equal(file_out_close(&out), 0);
	assert_int_equal(file_in_open(&in, path, &e), 0);
	assert_int_equal(in.at(in.arg, 0, 100, &p), 11);
	assert_memory_equal(p, "Jello world", 11);
	file_in_close(&in);
	assert_int_equal(file_out_open(&out, "/nowhere/x", &e), -TALLY_EIO);
	assert_int_equal(file_out_open(&out, "/dev/full", &(struct err){ 0 }), 0);
	assert_null(out.patch);
	assert_int_equal(out.put(out.arg, "x", 1), -TALLY_EIO);
	file_out_close(&out);
	drop(path);
}

static void what_somebody_else_opened_is_written_where_it_stands_and_not_emptied(void **state)
{
	enum file_origin origin = FILE_FOUND;
	struct bytes_out out = { 0 };
	struct bytes_in in = { 0 };
	char *path = scratch(10);
	const uint8_t *p = NULL;
	struct err e = { 0 };
	int theirs, fd;

	(void)state;
	assert_int_equal(file_inherited(path), -1);
	theirs = open(path, O_RDONLY);
	assert_int_equal(file_inherited(path), -1); /* nobody writes there */
	close(theirs);
	theirs = open(path, O_WRONLY | O_TRUNC);
	assert_int_equal(write(theirs, "precious ", 9), 9);
	assert_int_equal(file_inherited(path), theirs);
	assert_int_equal(file_out_open(&out, path, &e), 0);
	assert_null(out.patch);
	assert_int_equal(out.put(out.arg, "more", 4), 0);
	assert_int_equal(file_out_close(&out), 0);
	fd = file_write_open(path, &origin);
	assert_int_equal(origin, FILE_INHERITED);
	assert_int_equal(write(fd, "!", 1), 1);
	close(fd);
	assert_int_equal(file_in_open(&in, path, &e), 0);
	assert_int_equal(in.at(in.arg, 0, 100, &p), 14);
	assert_memory_equal(p, "precious more!", 14);
	file_in_close(&in);
	close(theirs);
	assert_int_equal(close(file_write_open(path, &origin)), 0);
	assert_int_equal(origin, FILE_FOUND);
	unlink(path);
	assert_int_equal(close(file_write_open(path, &origin)), 0);
	assert_int_equal(origin, FILE_MADE);
	drop(path);
}

static void a_library_that_is_not_there_is_told(void **state)
{
	static const char *const good[] = { "strlen" }, *const bad[] = { "strlen", "no_such_function" };
	void *fn[2];

	(void)state;
	assert_false(library_load("libno-such-library.so.1", good, fn, 1));
	assert_false(library_load("libc.so.6", bad, fn, 2));
	assert_true(library_load("libc.so.6", good, fn, 1));
}

static void fails_for_want_of_memory(const char *path)
{
	for (long n = 1;; n++) {
		long live = mem_live();
		struct bytes_in in = { 0 };
		bool failed;
		int rc;

		mem_fail_at(n);
		rc = file_in_open(&in, path, &(struct err){ 0 });
		failed = mem_failed();
		mem_fail_at(0);
		file_in_close(&in);
		assert_int_equal(mem_live(), live);
		if (!failed)
			break;
		assert_int_equal(rc, -TALLY_ENOMEM);
	}
}

static void every_failing_allocation_is_told(void **state)
{
	char *path = scratch(10);

	(void)state;
	fails_for_want_of_memory("/dev/null");
	fails_for_want_of_memory(path);
	drop(path);
}

static void a_lock_is_taken_once_and_again_when_it_is_given_back(void **state)
{
	char *path = scratch(0);
	int fd = file_lock(path), again;

	(void)state;
	assert_true(fd >= 0);
	errno = 0;
	assert_int_equal(file_lock(path), -1);
	assert_int_equal(errno, EAGAIN);
	close(fd);
	again = file_lock(path);
	assert_true(again >= 0);
	close(again);
	drop(path);
	assert_int_equal(file_lock("/nowhere/lock"), -1);
	assert_int_equal(errno, ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_gives_the_bytes_of_any_offset),
		cmocka_unit_test(a_file_that_shrank_ends_where_it_ends_now),
		cmocka_unit_test(bytes_that_were_given_stay_when_the_file_shrinks),
		cmocka_unit_test(a_missing_file_is_an_error_that_names_it),
		cmocka_unit_test(what_cannot_be_read_says_why),
		cmocka_unit_test(a_program_that_is_executed_does_not_have_what_is_read),
		cmocka_unit_test(a_stream_gives_the_same_and_looks_back_a_little),
		cmocka_unit_test(an_offset_far_ahead_is_read_up_to),
		cmocka_unit_test(a_pipe_is_a_stream),
		cmocka_unit_test(what_is_written_and_patched_is_read),
		cmocka_unit_test(what_somebody_else_opened_is_written_where_it_stands_and_not_emptied),
		cmocka_unit_test(a_library_that_is_not_there_is_told),
		cmocka_unit_test(a_lock_is_taken_once_and_again_when_it_is_given_back),
		cmocka_unit_test(every_failing_allocation_is_told),
	};

	return cmocka_run_group_tests_name("base: file", tests, NULL, NULL);
}
