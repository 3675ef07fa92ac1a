/* jit_test.c: names of just-in-time compiled code, against perf maps that the test writes as a compiler does, and
 * spoils. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbol/symbol_test_int.h"

static void file_append(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void jit_code_has_the_names_of_the_perf_map(void **state)
{
	uint32_t pid = (uint32_t)getpid();
	struct k_task t = task_anonymous(pid, 0x10000000);
	struct symbols *s = symbols_open();
	struct sym_name n;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	unlink(path);
	file_append(path, "10000000 40 LazyCompile:*run /app/x.js:1\n");
	sym_task(s, &t);
	sym_user(s, pid, 0x10000010, 0, &n);
	assert_text(&n, 0x10000010, true, "[jit]`LazyCompile:*run /app/x.js:1+0x10");
	file_append(path, "10000040 40 later\n");
	sym_user(s, pid, 0x10000050, 0, &n);
	assert_string_equal(n.name, "later");
	sym_user(s, pid, 0x10000090, 0, &n);
	assert_null(n.mod);
	unlink(path);
	sym_close(s);
}

/* Runs check in a child that is another user, and has made a perf map for the number of process `pid`. */
static void as_nobody_with_a_map(uint32_t pid, const char *text, void (*check)(uint32_t pid))
{
	int go[2], status;
	char path[64], byte;
	pid_t child;

	if (geteuid() != 0) {
		print_message("# skipped: only root can become another user\n");
		skip();
	}
	assert_int_equal(pipe(go), 0);
	child = fork();
	if (child == 0) {
		snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid ? pid : (uint32_t)getpid());
		if (setresuid(65534, 65534, 65534) == 0)
			file_append(path, text);
		(void)!write(go[1], "x", 1);
		pause();
	}
	assert_int_equal(read(go[0], &byte, 1), 1);
	close(go[0]);
	close(go[1]);
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid ? pid : (uint32_t)child);
	check(pid ? pid : (uint32_t)child);
	unlink(path);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
}

/* What the code of a process is called, when it has ended too: NULL: it has no name. */
static void jit_expect_name(uint32_t pid, bool ends, const char *name)
{
	struct k_task t = task_anonymous(pid, 0x10000000);
	struct symbols *s = symbols_open();
	struct sym_name n;

	sym_task(s, &t);
	if (ends) {
		kill((pid_t)pid, SIGKILL);
		waitpid((pid_t)pid, NULL, 0);
	}
	sym_user(s, pid, 0x10000010, 0, &n);
	if (name)
		assert_string_equal(n.name, name);
	else
		assert_null(n.name);
	sym_close(s);
}

static void has_no_name(uint32_t pid)
{
	jit_expect_name(pid, false, NULL);
}

static void has_a_name(uint32_t pid)
{
	jit_expect_name(pid, false, "told");
}

/* A map's user is the process's, though that is gone when a name is asked for. */
static void has_a_name_after_its_end(uint32_t pid)
{
	jit_expect_name(pid, true, "told");
}

static void map_path(char to[64], uint32_t pid)
{
	snprintf(to, 64, "/tmp/perf-%u.map", pid);
}

static void was_taken_when_code_came(uint32_t pid)
{
	struct k_task first = task_anonymous(pid, 0x10000000), second = task_anonymous(pid, 0x20000000);
	struct symbols *s = symbols_open();
	struct sym_name n;
	char path[64];

	map_path(path, pid);
	sym_task(s, &first);
	sym_task(s, &second);
	assert_int_equal(unlink(path), 0);
	sym_user(s, pid, 0x10000010, 0, &n);
	assert_string_equal(n.name, "told");
	sym_close(s);
}

static void was_taken_at_the_end(uint32_t pid)
{
	struct k_task t = task_anonymous(pid, 0x10000000), end = { .kind = K_TASK_EXIT, .pid = pid, .tid = pid };
	struct symbols *s = symbols_open();
	struct sym_name n;
	char path[64], aside[80];

	map_path(path, pid);
	snprintf(aside, sizeof(aside), "%s.aside", path);
	assert_int_equal(rename(path, aside), 0);
	sym_task(s, &t);
	assert_int_equal(rename(aside, path), 0);
	sym_task(s, &end);
	assert_int_equal(unlink(path), 0);
	sym_user(s, pid, 0x10000010, 0, &n);
	assert_string_equal(n.name, "told");
	sym_close(s);
}

static void a_perf_map_is_taken_when_code_comes_and_when_the_process_ends(void **state)
{
	(void)state;
	as_nobody_with_a_map(0, "10000000 40 told\n", was_taken_when_code_came);
	as_nobody_with_a_map(0, "10000000 40 told\n", was_taken_at_the_end);
}

static void a_perf_map_that_another_user_wrote_is_not_believed(void **state)
{
	(void)state;
	as_nobody_with_a_map((uint32_t)getpid(), "10000000 40 told\n", has_no_name);
	as_nobody_with_a_map(0, "10000000 40 told\n", has_a_name);
}

static void a_perf_map_that_others_can_write_or_that_is_a_link_is_not_believed(void **state)
{
	static const struct {
		mode_t mode;
		int (*other)(const char *from, const char *to); /* makes the other name the map's */
		bool believed;
	} rows[] = {
		{ 0644, NULL, true },  { 0600, NULL, true },     { 0666, NULL, false },
		{ 0664, NULL, false }, { 0644, symlink, false }, { 0644, link, false },
	};
	const uint32_t pid = (uint32_t)getpid();
	char path[64], other[64];

	(void)state;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	snprintf(other, sizeof(other), "/tmp/perf-%u.map.other", pid);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *file = rows[i].other ? other : path;

		unlink(path);
		unlink(other);
		file_append(file, "10000000 40 told\n");
		assert_int_equal(chmod(file, rows[i].mode), 0);
		if (rows[i].other)
			assert_int_equal(rows[i].other(other, path), 0);
		(rows[i].believed ? has_a_name : has_no_name)(pid);
	}
	unlink(path);
	unlink(other);
}

static void the_perf_map_of_a_process_that_ended_is_its_users(void **state)
{
	(void)state;
	as_nobody_with_a_map(0, "10000000 40 told\n", has_a_name_after_its_end);
}

static void a_perf_map_that_is_written_anew_again_and_again_is_read_no_further_than_the_bound(void **state)
{
	static const char text[] = "10 10 good\n";
	char path[] = "/tmp/tally-jit.XXXXXX";
	struct jits all = { 0 };
	struct jit *j = jit_open(&all, (uint32_t)getpid());
	int fd = mkstemp(path);

	(void)state;
	unlink(path);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(ftruncate(fd, JIT_FILE_MOST / 2), 0);
		assert_int_equal(pwrite(fd, text, sizeof(text) - 1, i), sizeof(text) - 1);
		jit_read_fd(j, fd);
		j->inode = 0; /* as of another file */
	}
	assert_true(j->read >= JIT_FILE_MOST && j->read <= JIT_FILE_MOST + 65536);
	assert_int_equal(jit_read_fd(j, fd), false);
	close(fd);
	jit_free(j);
	names_free(&all.names);
}

/* Asks it, and takes it for the map of this process, whose name it lost. */
static void map_keep(struct jit *j, int fd)
{
	j->fd = fd;
	j->all->fds++;
}

/* want: the name, two of them that are ambiguous ("one or other"), or NULL for none. */
static void map_gives(struct jit *j, uint64_t addr, uint64_t since_ns, uint64_t until_ns, const char *want)
{
	const struct jit_question q = {
		.pid = (uint32_t)getpid(),
		.addr = addr,
		.since_ns = since_ns,
		.until_ns = until_ns,
		.life = { .from_ns = 1, .until_ns = UINT64_MAX },
	};
	const struct sym *is = NULL;
	enum jit_told told = jit_find(j, &q, &is);

	assert_int_equal(told, !want ? JIT_NOTHING : strstr(want, " or ") ? JIT_AMBIGUOUS : JIT_NAME);
	if (told == JIT_NAME)
		assert_string_equal(is->name, want);
}

/* A perf map without a name, and who reads it. */
static struct jit *map_new(struct jits *all, const char *text)
{
	char path[] = "/tmp/tally-jit.XXXXXX";
	struct jit *j = jit_open(all, (uint32_t)getpid());
	int fd = mkstemp(path);

	assert_non_null(j);
	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_true(jit_read_fd(j, fd));
	map_keep(j, fd);
	return j;
}

static void map_write(const struct jit *j, const char *text)
{
	assert_int_equal(write(j->fd, text, strlen(text)), strlen(text));
}

static void the_later_line_of_a_perf_map_names_what_ran_later_and_the_earlier_what_ran_before(void **state)
{
	struct jits all = { 0 };
	struct jit *j = map_new(&all, "1000 40 early\n2000 40 other\n");
	const uint64_t first_ns = j->complete_ns;
	uint64_t second_ns;

	(void)state;
	map_gives(j, 0x1010, 0, UINT64_MAX, "early");
	map_write(j, "1000 40 late\n");
	map_gives(j, 0x1010, 0, UINT64_MAX, "early or late");
	second_ns = k_now_ns();
	map_gives(j, 0x1010, 0, first_ns, "early");
	map_gives(j, 0x1010, second_ns, UINT64_MAX, "late");
	map_gives(j, 0x1010, first_ns, second_ns, "early or late");
	map_gives(j, 0x2010, 0, UINT64_MAX, "other");
	map_write(j, "1000 40 late\n"); /* the same again */
	map_gives(j, 0x1010, second_ns, UINT64_MAX, "late");
	map_write(j, "1000 40 early\n");
	map_gives(j, 0x1010, second_ns, UINT64_MAX, "late or early");
	map_gives(j, 0x1010, k_now_ns(), UINT64_MAX, "early");
	jit_free(j);
	assert_int_equal(all.fds, 0);
	names_free(&all.names);
}

static void lines_of_a_perf_map_that_overlap_are_ambiguous_where_they_do(void **state)
{
	struct jits all = { 0 };
	struct jit *j = map_new(&all, "1000 1000 large\n1100 20 small\n1110 30 smaller\n1ff0 20 last\n");

	(void)state;
	map_gives(j, 0x10ff, 0, UINT64_MAX, "large");
	map_gives(j, 0x1108, 0, UINT64_MAX, "large or small");
	map_gives(j, 0x1130, 0, UINT64_MAX, "large or smaller");
	map_gives(j, 0x1140, 0, UINT64_MAX, "large");
	map_gives(j, 0x1ff8, 0, UINT64_MAX, "large or last");
	map_gives(j, 0x200f, 0, UINT64_MAX, "last");
	map_gives(j, 0x2010, 0, UINT64_MAX, NULL);
	jit_free(j);
	names_free(&all.names);
}

static void an_address_with_more_lines_than_are_looked_at_is_ambiguous(void **state)
{
	struct jits all = { 0 };
	struct jit *j = map_new(&all, "1000 1000 large\n");
	char line[32];

	(void)state;
	for (unsigned i = 0; i < JIT_SEEN_MOST; i++) {
		snprintf(line, sizeof(line), "%x 0 label\n", 0x1001 + i % 0x400);
		map_write(j, line);
	}
	map_gives(j, 0x1400, 0, UINT64_MAX, "large or unknown");
	map_gives(j, 0x1000, 0, UINT64_MAX, "large");
	jit_free(j);
	names_free(&all.names);
}

/* What the perf map of a process id says of a process that opened it as `how` says, and wrote a line; it was there
 * before. */
static const char *name_by_an_older_map(int how)
{
	struct jit_question q = { .addr = 0x1000, .until_ns = UINT64_MAX, .life.until_ns = UINT64_MAX };
	struct jits all = { 0 };
	const struct sym *is;
	int go[2], told[2], fd;
	enum jit_told found;
	char path[64], byte;
	struct jit *j;

	assert_int_equal(pipe(go) | pipe(told), 0);
	q.pid = (uint32_t)fork();
	if (!q.pid) {
		close(go[1]);
		(void)!read(go[0], &byte, 1);
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
		fd = open(path, O_WRONLY | how);
		(void)!write(fd, "1000 40 own\n", 12);
		(void)!write(told[1], "x", 1);
		_exit(read(go[0], &byte, 1) < 0);
	}
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", q.pid);
	unlink(path);
	file_append(path, "1000 40 own\n2000 40 old\n");
	q.life.from_ns = k_now_ns() + 1000000000; /* as if the file were that much older */
	assert_int_equal(write(go[1], "x", 1), 1);
	assert_int_equal(read(told[0], &byte, 1), 1);
	j = jit_open(&all, q.pid);
	assert_non_null(j);
	(void)jit_find(j, &q, &is);
	j->file.written_ns = q.life.from_ns; /* and was written to since */
	found = jit_find(j, &q, &is);
	unlink(path);
	close(go[0]);
	close(go[1]);
	close(told[0]);
	close(told[1]);
	waitpid((pid_t)q.pid, NULL, 0);
	jit_free(j);
	names_free(&all.names);
	return found == JIT_NAME ? "name" : found == JIT_AMBIGUOUS ? "ambiguous" : "nothing";
}

static void a_perf_map_of_a_process_before_lends_names_only_where_the_process_emptied_it(void **state)
{
	(void)state;
	assert_string_equal(name_by_an_older_map(O_TRUNC), "name");
	assert_string_equal(name_by_an_older_map(O_APPEND), "ambiguous");
	assert_string_equal(name_by_an_older_map(0), "ambiguous"); /* over the first lines only */
}

static void a_perf_map_that_is_written_anew_in_place_is_read_from_its_start(void **state)
{
	struct jits all = { 0 };
	struct jit *j = map_new(&all, "1000 40 old\n");

	(void)state;
	assert_int_equal(ftruncate(j->fd, 0), 0);
	assert_int_equal(lseek(j->fd, 0, SEEK_SET), 0);
	map_write(j, "3000 40 other_and_longer\n1000 40 new\n");
	map_gives(j, 0x1000, 0, UINT64_MAX, "old or new");
	map_gives(j, 0x1000, k_now_ns(), UINT64_MAX, "new");
	map_gives(j, 0x3000, 0, UINT64_MAX, "other_and_longer");
	jit_free(j);
	names_free(&all.names);
}

static void a_perf_map_with_more_than_is_read_names_only_what_ran_before(void **state)
{
	struct jits all = { 0 };
	struct jit *j = map_new(&all, "1000 40 told\n");
	const uint64_t read_ns = j->complete_ns;

	(void)state;
	j->read = JIT_FILE_MOST;
	map_write(j, "1000 40 unread\n");
	map_gives(j, 0x1000, 0, UINT64_MAX, "told or unread");
	map_gives(j, 0x1000, 0, read_ns, "told");
	jit_free(j);
	names_free(&all.names);
}

/* What is read of it is all only as long as none of the bounds was reached. */
static void a_perf_map_is_whole_below_each_bound(void **state)
{
	struct jits all = { 0 };
	struct jit *j = map_new(&all, "1000 40 told\n");
	const uint32_t lines = j->t.n;
	const uint64_t read = j->read, bytes = all.names.bytes;

	(void)state;
	assert_true(jit_read_fd(j, j->fd) && j->whole);
	j->read = JIT_FILE_MOST - 1;
	assert_true(jit_read_fd(j, j->fd) && j->whole);
	j->read = JIT_FILE_MOST;
	assert_false(jit_read_fd(j, j->fd) || j->whole);
	j->read = read;
	j->t.n = JIT_SYMBOLS_MOST - 1;
	assert_true(jit_read_fd(j, j->fd) && j->whole);
	j->t.n = JIT_SYMBOLS_MOST;
	assert_false(jit_read_fd(j, j->fd) || j->whole);
	j->t.n = lines;
	all.names.bytes = JIT_NAMES_MOST - 1;
	assert_true(jit_read_fd(j, j->fd) && j->whole);
	all.names.bytes = JIT_NAMES_MOST;
	assert_false(jit_read_fd(j, j->fd) || j->whole);
	all.names.bytes = bytes;
	assert_true(jit_read_fd(j, j->fd) && j->whole);
	jit_free(j);
	names_free(&all.names);
}

static void broken_lines_of_a_perf_map_are_skipped(void **state)
{
	static const char text[] = "10 10 good\n\nzz 10 bad\n20\n30 8\n30 8 \n"
				   "ffffffffffffff00 fff wraps\n0x40 0x8 with prefix\n"
				   "10 10 newer\n60 0 nosize\n80 8 cut off he";
	char path[] = "/tmp/tally-jit.XXXXXX";
	struct jits all = { 0 };
	struct jit *j = jit_open(&all, (uint32_t)getpid());
	int fd = mkstemp(path);

	(void)state;
	unlink(path);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	assert_true(jit_read_fd(j, fd));
	assert_int_equal(j->t.n, 4);
	map_keep(j, fd);
	map_gives(j, 0x1f, 0, UINT64_MAX, "good or newer");
	map_gives(j, 0x40, 0, UINT64_MAX, "with prefix");
	map_gives(j, 0x61, 0, UINT64_MAX, "nosize");
	map_gives(j, 0x80, 0, UINT64_MAX, "nosize");
	assert_int_equal(write(fd, "re\n", 3), 3);
	map_gives(j, 0x80, 0, UINT64_MAX, "cut off here");
	map_gives(j, 0x7f, 0, UINT64_MAX, "nosize");
	map_gives(j, 0x88, 0, UINT64_MAX, NULL);
	jit_free(j);
	names_free(&all.names);
}

static void a_perf_map_without_line_ends_is_passed_over(void **state)
{
	char path[] = "/tmp/tally-jit.XXXXXX";
	struct jits all = { 0 };
	struct jit *j = jit_open(&all, (uint32_t)getpid());
	int fd = mkstemp(path);

	(void)state;
	unlink(path);
	assert_int_equal(ftruncate(fd, 10 << 20), 0);
	assert_true(jit_read_fd(j, fd));
	assert_int_equal(j->t.n, 0);
	close(fd);
	jit_free(j);
	names_free(&all.names);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(jit_code_has_the_names_of_the_perf_map),
		cmocka_unit_test(a_perf_map_is_taken_when_code_comes_and_when_the_process_ends),
		cmocka_unit_test(a_perf_map_that_another_user_wrote_is_not_believed),
		cmocka_unit_test(a_perf_map_that_others_can_write_or_that_is_a_link_is_not_believed),
		cmocka_unit_test(the_perf_map_of_a_process_that_ended_is_its_users),
		cmocka_unit_test(a_perf_map_that_is_written_anew_again_and_again_is_read_no_further_than_the_bound),
		cmocka_unit_test(the_later_line_of_a_perf_map_names_what_ran_later_and_the_earlier_what_ran_before),
		cmocka_unit_test(lines_of_a_perf_map_that_overlap_are_ambiguous_where_they_do),
		cmocka_unit_test(an_address_with_more_lines_than_are_looked_at_is_ambiguous),
		cmocka_unit_test(a_perf_map_of_a_process_before_lends_names_only_where_the_process_emptied_it),
		cmocka_unit_test(a_perf_map_that_is_written_anew_in_place_is_read_from_its_start),
		cmocka_unit_test(a_perf_map_with_more_than_is_read_names_only_what_ran_before),
		cmocka_unit_test(a_perf_map_is_whole_below_each_bound),
		cmocka_unit_test(broken_lines_of_a_perf_map_are_skipped),
		cmocka_unit_test(a_perf_map_without_line_ends_is_passed_over),
	};

	return cmocka_run_group_tests_name("symbol: jit", tests, NULL, NULL);
}
