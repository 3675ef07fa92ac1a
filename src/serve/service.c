/*
 * service.c: what a service manager and the kernel are told: that it is ready, that it lives, which rights it keeps.
 *
 * The words go to systemd in datagrams, as sd_notify(3) describes; without a socket nobody is told, and nothing else
 * changes.
 *
 * Capabilities are needed to load and arm programs and to learn the names of addresses, and never to answer clients. So
 * they are lowered while bytes of clients are looked at, and raised again for the programs. With TALLY_SERVE_DROP they
 * are given up once all programs run: nothing raises them again, so a program that changed cannot be loaded any more,
 * nor armed on a CPU that comes.
 */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "serve/serve_int.h"

/* ---- systemd ------------------------------------------------------------------------- */

void service_tell(const struct tally_serve *s, const char *fmt, ...)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	const size_t n = s->o.notify ? strlen(s->o.notify) : 0;
	struct buf words = { 0 };
	va_list ap;
	int fd;

	if (!n || n >= sizeof(at.sun_path) || (s->o.notify[0] != '/' && s->o.notify[0] != '@'))
		return;
	memcpy(at.sun_path, s->o.notify, n);
	if (at.sun_path[0] == '@') /* a name without a file */
		at.sun_path[0] = '\0';
	va_start(ap, fmt);
	buf_vprintf(&words, fmt, ap);
	va_end(ap);
	fd = words.failed ? -1 : socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		(void)sendto(fd, words.p, words.n, MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&at,
			     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
		close(fd);
	}
	buf_free(&words);
}

void service_tell_alive(struct tally_serve *s)
{
	const uint64_t now = s->o.clock(s->o.arg);

	/* the clock may be set back */
	if (!s->o.watchdog_ns || (now >= s->alive_ns && now - s->alive_ns < s->o.watchdog_ns / 4))
		return;
	s->alive_ns = now;
	service_tell(s, "WATCHDOG=1");
}

/* ---- rights ---------------------------------------------------------------------------- */

static bool service_get_rights(struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return syscall(SYS_capget, &head, data) == 0;
}

static bool service_set_rights(const struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return syscall(SYS_capset, &head, data) == 0;
}

/* Lowering what is there, and raising what is permitted, cannot fail. */
void service_raise_rights(bool raised)
{
	struct __user_cap_data_struct data[2];

	if (!service_get_rights(data))
		return;
	for (int i = 0; i < 2; i++)
		data[i].effective = raised ? data[i].permitted : 0;
	(void)service_set_rights(data);
}

int service_drop_rights(struct err *e)
{
	const struct __user_cap_data_struct none[2] = { { 0 }, { 0 } };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || !service_set_rights(none))
		return err_set(e, TALLY_EPERM, "failed to give up capabilities: %s", strerror(errno));
	return 0;
}
