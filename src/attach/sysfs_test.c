/* sysfs_test.c: the PMUs' files, as a tree and mounted. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "attach/sysfs_int.h"

struct bench {
	struct kunpeng *k;
	struct sysfs s;
	struct err e;
};

static void bench_open(struct bench *b)
{
	*b = (struct bench){ 0 };
	assert_int_equal(kunpeng_open(&b->k, NULL, &b->e), 0);
	assert_int_equal(sysfs_open(&b->s, b->k, &b->e), 0);
}

static void bench_close(struct bench *b)
{
	sysfs_close(&b->s);
	kunpeng_close(b->k);
}

/* "hisi_ptt0_2/tune/qos_tx_p": its number; 0: it is not there. */
static uint64_t at(const struct bench *b, const char *path)
{
	struct sysfs_node n = { .number = SYSFS_ROOT };
	char name[64];

	for (int used = 0; sscanf(path, "%63[^/]%n", name, &used) == 1; path += path[used] ? used + 1 : used)
		if (!sysfs_find(&b->s, n.number, name, &n))
			return 0;
	return n.number;
}

static int contents(struct bench *b, const char *path, char text[static SYSFS_TEXT])
{
	memset(text, 0, SYSFS_TEXT);
	return sysfs_read(&b->s, at(b, path), text);
}

static void is(struct bench *b, const char *path, const char *want)
{
	char text[SYSFS_TEXT];

	if (contents(b, path, text) != (int)strlen(want) || strcmp(text, want) != 0)
		fail_msg("%s: \"%s\", not \"%s\"", path, text, want);
}

static int put(struct bench *b, const char *path, const char *text)
{
	return sysfs_write(&b->s, at(b, path), text, strlen(text));
}

/* ---- the tree ----------------------------------------------------------------------------------- */

static void list(struct bench *b, uint64_t dir, char *to, size_t n)
{
	struct sysfs_node node;
	char text[SYSFS_TEXT];

	for (uint64_t after = 0; sysfs_next(&b->s, dir, after, &node); after = node.number) {
		assert_true(node.number > after);
		assert_int_equal(node.parent, dir);
		snprintf(to + strlen(to), n - strlen(to), "%o %s%s", node.mode, node.name, node.dir ? "/\n" : " ");
		if (node.dir) {
			assert_int_equal(sysfs_read(&b->s, node.number, text), -EISDIR);
			list(b, node.number, to, n);
			continue;
		}
		assert_true(sysfs_read(&b->s, node.number, text) > 0);
		snprintf(to + strlen(to), n - strlen(to), "%s", text);
	}
}

static void the_tree_has_the_names_modes_and_contents_of_the_driver(void **state)
{
	static const char want[] = "444 type 1048577\n"
				   "444 cpumask 0\n"
				   "644 perf_event_mux_interval_ms 4\n"
				   "755 format/\n"
				   "444 filter config:0-19\n"
				   "444 direction config:20-23\n"
				   "444 type config:24-31\n"
				   "444 format config:32-35\n"
				   "755 tune/\n"
				   "600 qos_tx_cpl 1\n"
				   "600 qos_tx_np 1\n"
				   "600 qos_tx_p 1\n"
				   "600 rx_alloc_buf_level 0\n"
				   "600 tx_alloc_buf_level 2\n"
				   "755 root_port_filters/\n"
				   "400 multiselect 1\n"
				   "400 0000:00:10.0 0x80001\n"
				   "400 0000:00:11.0 0x80004\n"
				   "400 0000:00:12.0 0x80010\n"
				   "755 requester_filters/\n"
				   "400 multiselect 0\n"
				   "400 0000:01:00.0 0x00100\n"
				   "400 0000:01:00.1 0x00101\n"
				   "400 0000:02:00.0 0x00200\n"
				   "400 0000:03:00.0 0x00300\n"
				   "400 0000:03:01.0 0x00308\n"
				   "400 0000:04:00.0 0x00400\n"
				   "400 0000:05:00.0 0x00500\n";
	struct bench b;
	char got[4096] = "";

	(void)state;
	bench_open(&b);
	list(&b, at(&b, "hisi_ptt0_2"), got, sizeof(got));
	assert_string_equal(got, want);
	assert_int_not_equal(at(&b, "hisi_ptt0_0"), 0);
	assert_int_equal(at(&b, "hisi_ptt0_1"), 0);
	assert_int_equal(at(&b, "hisi_ptt0_2/tune/qos_tx_dp"), 0);
	bench_close(&b);
}

static void each_entry_is_found_by_its_number_and_nothing_by_another(void **state)
{
	struct sysfs_node n, again;
	uint32_t dirs = 0;
	struct bench b;

	(void)state;
	bench_open(&b);
	assert_true(sysfs_at(&b.s, SYSFS_ROOT, &n));
	assert_int_equal(n.ndirs, 2);
	for (uint64_t i = 0; sysfs_next(&b.s, at(&b, "hisi_ptt0_2"), i, &n); i = n.number) {
		assert_true(sysfs_at(&b.s, n.number, &again));
		assert_memory_equal(&n, &again, sizeof(n));
		dirs += n.dir;
		for (uint64_t j = 0; n.dir && sysfs_next(&b.s, i = n.number, j, &again); j = again.number) {
			struct sysfs_node third;

			assert_true(sysfs_at(&b.s, again.number, &third));
			assert_string_equal(third.name, again.name);
		}
	}
	assert_true(sysfs_at(&b.s, at(&b, "hisi_ptt0_2"), &n));
	assert_int_equal(n.ndirs, dirs);
	for (uint64_t x = 1, i = 0; i < 200000; i++) { /* whatever is asked for */
		char text[SYSFS_TEXT];

		x = x * 6364136223846793005u + 1442695040888963407u;
		sysfs_next(&b.s, x >> (i & 31), x << (i & 15), &n);
		sysfs_find(&b.s, x >> (i & 31), "type", &n);
		if (sysfs_at(&b.s, x >> (i & 63), &n) && !n.dir)
			assert_true(sysfs_read(&b.s, n.number, text) > 0);
	}
	bench_close(&b);
}

static void filters_come_and_go_with_their_functions(void **state)
{
	struct sysfs_node n;
	uint64_t gone, behind;
	char text[SYSFS_TEXT];
	struct bench b;

	(void)state;
	bench_open(&b);
	assert_int_equal(at(&b, "hisi_ptt0_2/requester_filters/0000:06:00.0"), 0);
	assert_int_equal(kunpeng_plug(b.k, "0000:06:00.0", true, &b.e), 0);
	is(&b, "hisi_ptt0_2/requester_filters/0000:06:00.0", "0x00600\n");
	gone = at(&b, "hisi_ptt0_2/requester_filters/0000:01:00.1");
	behind = at(&b, "hisi_ptt0_2/requester_filters/0000:02:00.0");
	assert_int_equal(kunpeng_plug(b.k, "0000:01:00.1", false, &b.e), 0);
	assert_int_equal(at(&b, "hisi_ptt0_2/requester_filters/0000:01:00.1"), 0);
	assert_false(sysfs_at(&b.s, gone, &n));
	assert_int_equal(sysfs_read(&b.s, gone, text), -ENODEV);
	assert_int_equal(sysfs_write(&b.s, gone, "1", 1), -ENODEV);
	/* A listing that had come as far goes on behind it. */
	assert_true(sysfs_next(&b.s, at(&b, "hisi_ptt0_2/requester_filters"), gone, &n));
	assert_int_equal(n.number, behind);
	assert_int_equal(kunpeng_plug(b.k, "0000:01:00.1", true, &b.e), 0);
	assert_int_equal(at(&b, "hisi_ptt0_2/requester_filters/0000:01:00.1"), gone);
	bench_close(&b);
}

/* ---- tunables and the like -------------------------------------------------------------------------- */

static void tunables_take_what_the_driver_takes(void **state)
{
	static const struct {
		int line;
		const char *text;
		int rc;
		const char *then;
	} row[] = {
		{ __LINE__, "2\n", 2, "2\n" },
		{ __LINE__, "0", 1, "0\n" },
		{ __LINE__, "1\n", 2, "1\n" },
		{ __LINE__, "3\n", 2, "2\n" },
		{ __LINE__, "0\n", 2, "0\n" },
		{ __LINE__, "65535", 5, "2\n" },
		{ __LINE__, "+1\n", 3, "1\n" },
		{ __LINE__, "02\n", 3, "2\n" },
		{ __LINE__, "65536\n", -EINVAL, "2\n" },
		{ __LINE__, "99999999999999999999\n", -EINVAL, "2\n" },
		{ __LINE__, "-1\n", -EINVAL, "2\n" },
		{ __LINE__, "-0\n", -EINVAL, "2\n" },
		{ __LINE__, "0x1\n", -EINVAL, "2\n" },
		{ __LINE__, "x\n", -EINVAL, "2\n" },
		{ __LINE__, "\n", -EINVAL, "2\n" },
		{ __LINE__, "", -EINVAL, "2\n" },
		{ __LINE__, " 1\n", -EINVAL, "2\n" },
		{ __LINE__, "1 \n", -EINVAL, "2\n" },
		{ __LINE__, "1\n\n", -EINVAL, "2\n" },
		{ __LINE__, "++1\n", -EINVAL, "2\n" },
		{ __LINE__, "+-1\n", -EINVAL, "2\n" },
		{ __LINE__, "1,\n", -EINVAL, "2\n" },
		{ __LINE__, "0000000000000000000000000000000000000000000000000000000000000000000001x\n", -EINVAL,
		  "2\n" },
	};
	static const char *const file = "hisi_ptt0_2/tune/qos_tx_cpl";
	struct bench b;

	(void)state;
	bench_open(&b);
	for (size_t i = 0; i < COUNT(row); i++) {
		if (put(&b, file, row[i].text) != row[i].rc)
			fail_msg("line %d", row[i].line);
		is(&b, file, row[i].then);
	}
	assert_int_equal(sysfs_write(&b.s, at(&b, file), "1\0x", 3), 3); /* as far as the NUL */
	is(&b, file, "1\n");
	for (int t = 0; t < PTT_TUNES; t++) {
		char path[96];

		snprintf(path, sizeof(path), "hisi_ptt0_2/tune/%s", ptt_tunables[t].name);
		assert_int_equal(put(&b, path, t % 2 ? "0\n" : "2\n"), 2);
		is(&b, path, t % 2 ? "0\n" : "2\n");
		assert_int_equal(ptt_dev_tuned(kunpeng_device(b.k, 1), (enum ptt_tune)t), t % 2 ? 0 : 2);
	}
	is(&b, "hisi_ptt0_0/tune/qos_tx_cpl", "1\n");
	bench_close(&b);
}

static void the_interval_takes_what_the_kernel_takes(void **state)
{
	static const struct {
		int line;
		const char *text;
		int rc;
		const char *then;
	} row[] = {
		{ __LINE__, "10\n", 3, "10\n" },
		{ __LINE__, "0x20", 4, "32\n" },
		{ __LINE__, "010\n", 4, "8\n" },
		{ __LINE__, "+3\n", 3, "3\n" },
		{ __LINE__, "0\n", -EINVAL, "3\n" },
		{ __LINE__, "-4\n", -EINVAL, "3\n" },
		{ __LINE__, "4 \n", -EINVAL, "3\n" },
		{ __LINE__, "\n", -EINVAL, "3\n" },
		{ __LINE__, " 4\n", -EINVAL, "3\n" },
		{ __LINE__, "2147483648\n", -ERANGE, "3\n" },
		{ __LINE__, "99999999999999999999\n", -ERANGE, "3\n" },
		{ __LINE__, "2147483647\n", 11, "2147483647\n" },
	};
	struct bench b;

	(void)state;
	bench_open(&b);
	for (size_t i = 0; i < COUNT(row); i++) {
		if (put(&b, "hisi_ptt0_0/perf_event_mux_interval_ms", row[i].text) != row[i].rc)
			fail_msg("line %d", row[i].line);
		is(&b, "hisi_ptt0_0/perf_event_mux_interval_ms", row[i].then);
	}
	is(&b, "hisi_ptt0_2/perf_event_mux_interval_ms", "4\n");
	bench_close(&b);
}

static void what_is_not_to_be_written_is_not(void **state)
{
	static const char *const file[] = { "hisi_ptt0_2/type", "hisi_ptt0_2/cpumask", "hisi_ptt0_2/format/filter",
					    "hisi_ptt0_2/root_port_filters/multiselect",
					    "hisi_ptt0_2/requester_filters/0000:01:00.0" };
	struct bench b;

	(void)state;
	bench_open(&b);
	for (size_t i = 0; i < COUNT(file); i++)
		assert_int_equal(put(&b, file[i], "1\n"), -EACCES);
	assert_int_equal(put(&b, "hisi_ptt0_2/tune", "1\n"), -EISDIR);
	bench_close(&b);
}

static void a_trace_of_another_server_is_left_alone(void **state)
{
	struct ptt_dev *dev;
	struct bench b;
	char text[SYSFS_TEXT];

	(void)state;
	bench_open(&b);
	dev = kunpeng_device(b.k, 1);
	ptt_dev_write(dev, PTT_REG_TRACE_INT_MASK, 0);
	ptt_dev_write(dev, PTT_REG_TRACE_CTRL, 0x00010079);
	assert_int_equal(put(&b, "hisi_ptt0_2/tune/qos_tx_p", "2\n"), 2);
	assert_int_equal(contents(&b, "hisi_ptt0_2/tune/qos_tx_p", text), 2);
	sysfs_close(&b.s);
	assert_true(ptt_dev_tracing(dev));
	assert_int_equal(ptt_dev_read(dev, PTT_REG_TRACE_CTRL), 0x00010079);
	assert_int_equal(sysfs_open(&b.s, b.k, &b.e), 0);
	assert_true(ptt_dev_tracing(dev));
	bench_close(&b);
}

static void a_device_that_was_given_away_is_shown_and_busy(void **state)
{
	char text[SYSFS_TEXT];
	struct bench b;

	(void)state;
	bench_open(&b);
	kunpeng_give(b.k, 1);
	assert_int_equal(contents(&b, "hisi_ptt0_2/tune/qos_tx_p", text), -EBUSY);
	assert_int_equal(put(&b, "hisi_ptt0_2/tune/qos_tx_p", "2\n"), -EBUSY);
	assert_int_equal(put(&b, "hisi_ptt0_2/tune/qos_tx_p", "x\n"), -EINVAL);
	is(&b, "hisi_ptt0_2/root_port_filters/0000:00:10.0", "0x80001\n");
	is(&b, "hisi_ptt0_0/tune/qos_tx_p", "1\n");
	bench_close(&b);
}

/* ---- mounted ------------------------------------------------------------------------------------------- */

/* a mounted tree */
struct place {
	struct kunpeng *k;
	struct server *server;
	struct err e;
	char dir[64];
};

static void place_end(struct place *p)
{
	if (p->server)
		p->server->op->close(p->server);
	kunpeng_close(p->k);
	assert_int_equal(rmdir(p->dir), 0); /* it is no mount any more, and empty */
}

/* Skips, aloud, where nothing can be mounted. */
static void place_open(struct place *p)
{
	int rc;

	*p = (struct place){ .dir = "/tmp/tally-sysfs-XXXXXX" };
	assert_non_null(mkdtemp(p->dir));
	assert_int_equal(kunpeng_open(&p->k, NULL, &p->e), 0);
	rc = server_open_sysfs(&p->server, p->k, p->dir, &p->e);
	if (rc == 0)
		return;
	place_end(p);
	if (rc != -TALLY_ENOTSUP && rc != -TALLY_EPERM)
		fail_msg("%s", p->e.text);
	print_message("# skipped: %s\n", p->e.text);
	skip();
}

/* Serves while a client does something in a process of its own: how that ended. */
static int client(struct place *p, void (*act)(const struct place *p))
{
	struct pollfd fd = { .fd = p->server->op->fd(p->server), .events = POLLIN };
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		act(p);
		_exit(0);
	}
	while (waitpid(pid, &status, WNOHANG) == 0)
		if (poll(&fd, 1, 1) == 1 && p->server->op->serve(p->server, &p->e) < 0)
			fail_msg("%s", p->e.text);
	return status;
}

#define WANT(x)                                                                                    \
	do                                                                                         \
		if (!(x)) {                                                                        \
			fprintf(stderr, "# line %d: not %s: %s\n", __LINE__, #x, strerror(errno)); \
			_exit(1);                                                                  \
		}                                                                                  \
	while (0)

static int open_in(const struct place *p, const char *path, int flags)
{
	char full[256];

	snprintf(full, sizeof(full), "%s/%s", p->dir, path);
	return open(full, flags, 0666);
}

static ssize_t read_in(const struct place *p, const char *path, char *to, size_t n, size_t at_once)
{
	int fd = open_in(p, path, O_RDONLY);
	ssize_t got, all = 0;

	while (fd >= 0 && all + (ssize_t)at_once <= (ssize_t)n && (got = read(fd, to + all, at_once)) > 0)
		all += got;
	close(fd);
	return fd < 0 ? -1 : all;
}

static void act_as_scripts_do(const struct place *p)
{
	char text[64] = "";
	int fd;

	WANT(read_in(p, "hisi_ptt0_2/tune/qos_tx_cpl", text, 64, 64) == 2 && !strcmp(text, "1\n"));
	WANT((fd = open_in(p, "hisi_ptt0_2/tune/qos_tx_cpl", O_WRONLY | O_CREAT | O_TRUNC)) >= 0);
	WANT(write(fd, "3\n", 2) == 2);
	WANT(write(fd, "x\n", 2) == -1 && errno == EINVAL);
	WANT(close(fd) == 0);
	WANT(read_in(p, "hisi_ptt0_2/tune/qos_tx_cpl", text, 64, 1) == 2 && !strcmp(text, "2\n"));
	WANT(read_in(p, "hisi_ptt0_2/root_port_filters/0000:00:10.0", text, 64, 3) == 8 && !strcmp(text, "0x80001\n"));
	WANT(open_in(p, "hisi_ptt0_2/type", O_WRONLY) == -1 && errno == EACCES);
	WANT(open_in(p, "hisi_ptt0_2/none", O_RDONLY) == -1 && errno == ENOENT);
	WANT(open_in(p, "hisi_ptt0_2/none", O_WRONLY | O_CREAT) == -1 && errno == EACCES);
}

static void scripts_read_and_write_as_on_linux(void **state)
{
	struct place p;

	(void)state;
	place_open(&p);
	assert_int_equal(client(&p, act_as_scripts_do), 0);
	assert_int_equal(ptt_dev_tuned(kunpeng_device(p.k, 1), PTT_TUNE_qos_tx_cpl), 2);
	place_end(&p);
}

static void act_as_a_vandal(const struct place *p)
{
	char a[256], b[256];
	struct stat st;

	snprintf(a, sizeof(a), "%s/hisi_ptt0_2/type", p->dir);
	snprintf(b, sizeof(b), "%s/hisi_ptt0_2/mine", p->dir);
	WANT(mkdir(b, 0777) == -1 && errno == EPERM);
	WANT(mknod(b, S_IFIFO | 0666, 0) == -1 && errno == EACCES);
	WANT(symlink("x", b) == -1 && errno == EPERM);
	WANT(link(a, b) == -1 && errno == EPERM);
	WANT(rename(a, b) == -1 && errno == EPERM);
	WANT(unlink(a) == -1 && errno == EPERM);
	WANT(chmod(a, 0666) == -1 && errno == EPERM);
	WANT(truncate(a, 1 << 20) == -1 || geteuid() == 0);
	WANT(stat(a, &st) == 0 && st.st_mode == (S_IFREG | 0444) && st.st_size == 4096 && st.st_uid == geteuid());
	snprintf(a, sizeof(a), "%s/hisi_ptt0_2", p->dir);
	WANT(stat(a, &st) == 0 && st.st_mode == (S_IFDIR | 0755) && st.st_nlink == 6);
	WANT(rmdir(a) == -1 && errno == EPERM);
	WANT(rename(a, b) == -1 && (errno == EPERM || errno == EINVAL));
}

static void nothing_is_made_moved_or_removed(void **state)
{
	struct place p;

	(void)state;
	place_open(&p);
	assert_int_equal(client(&p, act_as_a_vandal), 0);
	place_end(&p);
}

static int count_in(const struct place *p, const char *path)
{
	char full[256];
	int n = 0;
	DIR *d;

	snprintf(full, sizeof(full), "%s/%s", p->dir, path);
	WANT((d = opendir(full)));
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void act_count_with_one_gone(const struct place *p)
{
	WANT(count_in(p, "hisi_ptt0_2/requester_filters") == 2 + 1 + 6);
	WANT(count_in(p, "hisi_ptt0_2") == 2 + 3 + 4);
	WANT(count_in(p, "") == 2 + 2);
	WANT(open_in(p, "hisi_ptt0_2/requester_filters/0000:01:00.0", O_RDONLY) == -1 && errno == ENOENT);
}

static void act_count_with_all(const struct place *p)
{
	WANT(count_in(p, "hisi_ptt0_2/requester_filters") == 2 + 1 + 7);
	WANT(open_in(p, "hisi_ptt0_2/requester_filters/0000:01:00.0", O_RDONLY) >= 0);
}

static void a_listing_follows_hotplug_at_once(void **state)
{
	struct place p;

	(void)state;
	place_open(&p);
	assert_int_equal(client(&p, act_count_with_all), 0);
	assert_int_equal(kunpeng_plug(p.k, "0000:01:00.0", false, &p.e), 0);
	assert_int_equal(client(&p, act_count_with_one_gone), 0);
	assert_int_equal(kunpeng_plug(p.k, "0000:01:00.0", true, &p.e), 0);
	assert_int_equal(client(&p, act_count_with_all), 0);
	place_end(&p);
}

/* Ways for a mount to end. */
static bool is_mount(const char *dir)
{
	struct stat here, above;
	char up[80];

	snprintf(up, sizeof(up), "%s/..", dir);
	return lstat(dir, &here) < 0 || lstat("/tmp", &above) < 0 || here.st_dev != above.st_dev;
}

static void who_is_killed_leaves_no_mount(void **state)
{
	int ready[2], status;
	struct place p;
	char c;
	pid_t pid;

	(void)state;
	place_open(&p); /* skips when it can't */
	place_end(&p);
	assert_int_equal(mkdir(p.dir, 0700), 0);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		WANT(kunpeng_open(&p.k, NULL, &p.e) == 0 && server_open_sysfs(&p.server, p.k, p.dir, &p.e) == 0);
		WANT(write(ready[1], "", 1) == 1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_int_equal(kill(-pid, SIGKILL), 0); /* its children too, as far as they can be reached so */
	assert_int_equal(waitpid(pid, &status, 0), pid);
	for (int i = 0; i < 5000 && is_mount(p.dir); i++)
		poll(NULL, 0, 1);
	assert_int_equal(rmdir(p.dir), 0);
	close(ready[0]);
}

static void a_mount_that_somebody_else_takes_away_is_told(void **state)
{
	struct place p;
	int rc = 0;

	(void)state;
	place_open(&p);
	if (umount2(p.dir, MNT_DETACH) < 0) {
		place_end(&p);
		print_message("# skipped: only root may call umount2\n");
		skip();
	}
	for (int i = 0; i < 1000 && rc == 0; i++)
		rc = p.server->op->serve(p.server, &p.e);
	assert_int_equal(rc, -TALLY_EEND);
	assert_non_null(strstr(p.e.text, "unmounted"));
	place_end(&p);
}

static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void mounting_and_unmounting_leave_nothing(void **state)
{
	struct place p;
	int before;

	(void)state;
	place_open(&p); /* the library stays loaded */
	place_end(&p);
	before = descriptors();
	for (int i = 0; i < 50; i++) {
		place_open(&p);
		assert_int_equal(p.server->op->serve(p.server, &p.e), 0);
		place_end(&p);
	}
	assert_int_equal(descriptors(), before);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
	assert_int_equal(mem_live(), 0);
}

static void where_nothing_can_be_mounted_the_words_say_why(void **state)
{
	struct place p = { .dir = "/tmp/tally-sysfs-XXXXXX" };
	char file[80];
	struct server *d = NULL;

	(void)state;
	assert_non_null(mkdtemp(p.dir));
	snprintf(file, sizeof(file), "%s/x", p.dir);
	assert_int_equal(kunpeng_open(&p.k, NULL, &p.e), 0);
	if (server_open_sysfs(&d, p.k, file, &p.e) == -TALLY_ENOTSUP) { /* no library: nothing else is looked at */
		place_end(&p);
		print_message("# skipped: %s\n", p.e.text);
		skip();
	}
	assert_non_null(strstr(p.e.text, "No such file or directory"));
	p.e.code = 0;
	assert_int_equal(close(creat(file, 0600)), 0);
	assert_int_equal(server_open_sysfs(&d, p.k, file, &p.e), -TALLY_EINVAL);
	assert_non_null(strstr(p.e.text, "Not a directory"));
	p.e.code = 0;
	assert_int_equal(server_open_sysfs(&d, p.k, p.dir, &p.e), -TALLY_EINVAL);
	assert_non_null(strstr(p.e.text, "is not empty"));
	p.e.code = 0;
	assert_int_equal(server_open_sysfs(&d, p.k, "", &p.e), -TALLY_EINVAL);
	assert_null(d);
	unlink(file);
	place_end(&p);
}

static void each_allocation_may_fail(void **state)
{
	struct place p;

	(void)state;
	place_open(&p);
	place_end(&p);
	assert_int_equal(mkdir(p.dir, 0700), 0);
	assert_int_equal(kunpeng_open(&p.k, NULL, &p.e), 0);
	for (long n = 1, before = mem_live();; n++) {
		p.server = NULL;
		p.e.code = 0;
		mem_fail_at(n);
		if (server_open_sysfs(&p.server, p.k, p.dir, &p.e) == 0)
			break;
		assert_true(mem_failed());
		assert_int_equal(p.e.code, TALLY_ENOMEM);
		assert_null(p.server);
		assert_int_equal(mem_live(), before);
	}
	mem_fail_at(0);
	place_end(&p);
	assert_int_equal(mem_live(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tree_has_the_names_modes_and_contents_of_the_driver),
		cmocka_unit_test(each_entry_is_found_by_its_number_and_nothing_by_another),
		cmocka_unit_test(filters_come_and_go_with_their_functions),
		cmocka_unit_test(tunables_take_what_the_driver_takes),
		cmocka_unit_test(the_interval_takes_what_the_kernel_takes),
		cmocka_unit_test(what_is_not_to_be_written_is_not),
		cmocka_unit_test(a_trace_of_another_server_is_left_alone),
		cmocka_unit_test(a_device_that_was_given_away_is_shown_and_busy),
		cmocka_unit_test(scripts_read_and_write_as_on_linux),
		cmocka_unit_test(nothing_is_made_moved_or_removed),
		cmocka_unit_test(a_listing_follows_hotplug_at_once),
		cmocka_unit_test(who_is_killed_leaves_no_mount),
		cmocka_unit_test(a_mount_that_somebody_else_takes_away_is_told),
		cmocka_unit_test(mounting_and_unmounting_leave_nothing),
		cmocka_unit_test(where_nothing_can_be_mounted_the_words_say_why),
		cmocka_unit_test(each_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
