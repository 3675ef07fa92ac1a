/* service_test.c: what a service manager hears of a service, and which rights the service has meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "serve/serve_int.h"

#define SECOND UINT64_C(1000000000)

static struct {
	int fd;
	char name[sizeof(((struct sockaddr_un *)0)->sun_path) + 1]; /* as NOTIFY_SOCKET says it: '@' is a zero byte */
	uint64_t now_ns;
	struct tally_serve s;
} manager;

static uint64_t manager_clock(void *arg)
{
	(void)arg;
	return manager.now_ns;
}

/* Listens at this name, which begins with '@' or '/'. */
static void manager_open(const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	const size_t n = strlen(name);

	memcpy(at.sun_path, name, n);
	if (*name == '@')
		at.sun_path[0] = '\0';
	strcpy(manager.name, name);
	manager.s = (struct tally_serve){ .o = { .notify = manager.name, .clock = manager_clock } };
	manager.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_true(manager.fd >= 0);
	assert_int_equal(bind(manager.fd, (struct sockaddr *)&at,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)),
			 0);
}

static void manager_close(void)
{
	close(manager.fd);
	if (manager.name[0] == '/')
		unlink(manager.name);
}

/* The next message; "": there is none. */
static const char *manager_heard(void)
{
	static char words[256];
	const ssize_t n = recv(manager.fd, words, sizeof(words) - 1, 0);

	words[n > 0 ? n : 0] = '\0';
	return words;
}

static void own_name(char first, char *name, size_t n)
{
	snprintf(name, n, first == '@' ? "@tally-service-test-%d" : "/tmp/tally-service-test-%d", (int)getpid());
}

static void a_manager_hears_each_message_at_a_path_and_at_a_name_without_a_file(void **state)
{
	static const char kinds[] = "@/";
	char name[64];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		own_name(kinds[i], name, sizeof(name));
		manager_open(name);
		service_tell(&manager.s, "READY=1\nSTATUS=%u programs, %d failed", 3u, 1);
		service_tell(&manager.s, "STOPPING=1");
		assert_string_equal(manager_heard(), "READY=1\nSTATUS=3 programs, 1 failed");
		assert_string_equal(manager_heard(), "STOPPING=1");
		assert_string_equal(manager_heard(), "");
		manager_close();
	}
	assert_int_equal(mem_live(), 0);
}

/* sun_path has room for 108 bytes, and a zero behind them counts. */
static void a_name_may_be_as_long_as_the_kernel_takes_it(void **state)
{
	char name[sizeof(((struct sockaddr_un *)0)->sun_path) + 1];
	const size_t most = sizeof(name) - 2;

	(void)state;
	memset(name, 'x', sizeof(name));
	own_name('@', name, sizeof(name));
	name[strlen(name)] = 'x';
	name[most] = '\0';
	manager_open(name);
	service_tell(&manager.s, "READY=1");
	assert_string_equal(manager_heard(), "READY=1");
	manager.name[most] = 'x'; /* a byte longer: told to nobody */
	manager.name[most + 1] = '\0';
	service_tell(&manager.s, "READY=1");
	manager.name[most] = '\0';
	assert_string_equal(manager_heard(), "");
	manager_close();
}

static void who_has_no_manager_or_one_that_is_no_path_tells_nobody(void **state)
{
	static const char *const names[] = { NULL, "", "relative", "tally" };
	struct tally_serve s = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		s.o.notify = names[i];
		service_tell(&s, "READY=1");
	}
	assert_int_equal(mem_live(), 0);
}

/* How many messages there are, each of which must be a sign of life. */
static unsigned signs_of_life(void)
{
	const char *words;
	unsigned n = 0;

	for (; *(words = manager_heard()); n++)
		assert_string_equal(words, "WATCHDOG=1");
	return n;
}

static void a_sign_of_life_is_given_each_quarter_of_the_watchdogs_time(void **state)
{
	static const struct {
		uint64_t now_ns;
		unsigned signs;
	} step[] = {
		{ 100 * SECOND, 1 }, { 100 * SECOND, 0 },     { 102 * SECOND - 1, 0 },
		{ 102 * SECOND, 1 }, { 104 * SECOND - 1, 0 }, { 104 * SECOND + 5, 1 },
		{ 106 * SECOND, 0 }, { 106 * SECOND + 5, 1 }, { 50 * SECOND, 1 }, /* the clock was set back */
		{ 51 * SECOND, 0 },  { 52 * SECOND, 1 },
	};
	char name[64];

	(void)state;
	own_name('@', name, sizeof(name));
	manager_open(name);
	manager.s.o.watchdog_ns = 8 * SECOND;
	for (size_t i = 0; i < COUNT(step); i++) {
		manager.now_ns = step[i].now_ns;
		service_tell_alive(&manager.s);
		if (signs_of_life() != step[i].signs)
			fail_msg("step %zu", i);
	}
	manager.s.o.watchdog_ns = 0; /* it does not ask */
	manager.now_ns += 1000 * SECOND;
	service_tell_alive(&manager.s);
	assert_int_equal(signs_of_life(), 0);
	manager_close();
}

static void memory_that_is_out_tells_nothing_half(void **state)
{
	char name[64];
	bool failed = true;

	(void)state;
	own_name('@', name, sizeof(name));
	manager_open(name);
	for (long n = 1; failed; n++) {
		mem_fail_at(n);
		service_tell(&manager.s, "STATUS=%0100d", 7);
		failed = mem_failed();
		mem_fail_at(0);
		assert_int_equal(strlen(manager_heard()), failed ? 0 : 107);
		assert_int_equal(mem_live(), 0);
	}
	manager_close();
}

/* ---- rights ---------------------------------------------------------------------------- */

struct rights {
	uint64_t effective, permitted, inheritable;
};
static struct rights own_rights(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2] = { { 0 }, { 0 } };

	assert_int_equal(syscall(SYS_capget, &head, d), 0);
	return (struct rights){ d[0].effective | (uint64_t)d[1].effective << 32,
				d[0].permitted | (uint64_t)d[1].permitted << 32,
				d[0].inheritable | (uint64_t)d[1].inheritable << 32 };
}

static void rights_are_lowered_for_a_while_and_come_back_whole(void **state)
{
	const struct rights before = own_rights();
	struct rights now;

	(void)state;
	service_raise_rights(false);
	now = own_rights();
	assert_int_equal(now.effective, 0);
	assert_int_equal(now.permitted, before.permitted);
	service_raise_rights(true);
	now = own_rights();
	assert_int_equal(now.effective, before.permitted);
	assert_int_equal(now.permitted, before.permitted);
	assert_int_equal(now.inheritable, before.inheritable);
}

static void rights_that_are_given_up_do_not_come_back(void **state)
{
	const pid_t child = fork();
	int status = 0;

	(void)state;
	if (child == 0) {
		struct err e = { 0 };
		struct rights now;

		if (service_drop_rights(&e) != 0)
			_exit(2);
		service_raise_rights(true);
		now = own_rights();
		_exit(now.effective || now.permitted || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_manager_hears_each_message_at_a_path_and_at_a_name_without_a_file),
		cmocka_unit_test(a_name_may_be_as_long_as_the_kernel_takes_it),
		cmocka_unit_test(who_has_no_manager_or_one_that_is_no_path_tells_nobody),
		cmocka_unit_test(a_sign_of_life_is_given_each_quarter_of_the_watchdogs_time),
		cmocka_unit_test(memory_that_is_out_tells_nothing_half),
		cmocka_unit_test(rights_are_lowered_for_a_while_and_come_back_whole),
		cmocka_unit_test(rights_that_are_given_up_do_not_come_back),
	};

	return cmocka_run_group_tests_name("service manager and rights", tests, NULL, NULL);
}
