/*
 * rights.c: what this process may do, and the words when it may not.
 *
 * A program whose file has capabilities (setcap) runs for a user who has none, and reads files that this user names.
 * k_rights_keep() therefore leaves only what a verb needs, and puts only that into effect which opens no file:
 * CAP_PERFMON, CAP_BPF and CAP_IPC_LOCK.  CAP_SYSLOG and CAP_SYS_PTRACE, with which a path of /proc leads further, are
 * in effect for the one open that rights_open() makes, and every other file is opened with the user's own rights.
 *
 * Single capabilities are asked for, never the user id; and what is possible
 * is found out by trying, since a sandbox, a container or a distribution's
 * own patch may forbid what the capabilities allow.  Three things are needed:
 * perf events of whole CPUs, BPF, and kernel addresses for names.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <tally/doctor.h>

#include "bpf/insn.h"
#include "kernel/kernel_int.h"
#include "kernel/libbpf_int.h"

#define FIX_MOST 360u /* of a command: a refusal's other words are in front of it */

/* ---- capabilities of this thread ------------------------------------------------------ */

struct capabilities {
	struct __user_cap_header_struct head;
	struct __user_cap_data_struct set[_LINUX_CAPABILITY_U32S_3];
};

static bool capabilities_read(struct capabilities *c)
{
	*c = (struct capabilities){ .head = { .version = _LINUX_CAPABILITY_VERSION_3 } };
	return syscall(SYS_capget, &c->head, c->set) == 0;
}

static bool capabilities_write(struct capabilities *c)
{
	return syscall(SYS_capset, &c->head, c->set) == 0;
}

bool has_capability(unsigned cap)
{
	struct capabilities c;

	return capabilities_read(&c) && c.set[cap / 32].permitted >> cap % 32 & 1;
}

/* Of capset(2) that a thread calls, its process's other threads see nothing. */
static bool rights_has_second_thread(void)
{
	static const char key[] = "\nThreads:\t";
	char text[4096], *line = file_small("/proc/self/status", text, sizeof(text)) > 0 ? strstr(text, key) : NULL;

	return line && strncmp(line + strlen(key), "1\n", 2) != 0;
}

int k_rights_keep(uint32_t rights)
{
	static const struct {
		uint32_t right;
		unsigned cap;
		bool in_effect;
	} rows[] = {
		{ TALLY_RIGHT_COUNT, CAP_PERFMON, true },     { TALLY_RIGHT_COUNT, CAP_IPC_LOCK, true },
		{ TALLY_RIGHT_PROGRAM, CAP_BPF, true },       { TALLY_RIGHT_NAMES, CAP_SYSLOG, false },
		{ TALLY_RIGHT_NAMES, CAP_SYS_PTRACE, false },
	};
	struct __user_cap_data_struct keep[_LINUX_CAPABILITY_U32S_3] = { 0 };
	struct capabilities c;

	if (rights_has_second_thread())
		return -TALLY_ESTATE;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct __user_cap_data_struct *to = &keep[rows[i].cap / 32];
		const uint32_t bit = 1u << rows[i].cap % 32;

		to->permitted |= rights & rows[i].right ? bit : 0;
		to->effective |= rights & rows[i].right && rows[i].in_effect ? bit : 0;
	}
	if (!capabilities_read(&c) || prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return -TALLY_EPERM;
	for (size_t i = 0; i < COUNT(keep); i++) {
		c.set[i].permitted &= keep[i].permitted;
		c.set[i].effective = c.set[i].permitted & keep[i].effective;
		c.set[i].inheritable = 0;
	}
	return capabilities_write(&c) ? 0 : -TALLY_EPERM;
}

void rights_drop(void)
{
	struct capabilities c = { .head = { .version = _LINUX_CAPABILITY_VERSION_3 } };

	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	(void)capabilities_write(&c);
}

int rights_open(unsigned cap, const char *path, int flags)
{
	const uint32_t bit = 1u << cap % 32;
	struct capabilities c;
	bool raised = false;
	int fd, no;

	if (capabilities_read(&c) && c.set[cap / 32].permitted & ~c.set[cap / 32].effective & bit) {
		c.set[cap / 32].effective |= bit;
		raised = capabilities_write(&c);
	}
	fd = open(path, flags | O_CLOEXEC);
	no = errno;
	if (raised) {
		c.set[cap / 32].effective &= ~bit;
		(void)capabilities_write(&c);
	}
	errno = no;
	return fd;
}

/* CAP_SYS_ADMIN includes the finer two that Linux 5.8 took out of it. */
static bool capability_or_admin(unsigned cap)
{
	return has_capability(cap) || has_capability(CAP_SYS_ADMIN);
}

/* ---- words ---------------------------------------------------------------------------- */

/* A word as a shell takes it; one with odd characters as $'...' and without a blank, so that it can't be broken. */
static void put_word(struct buf *to, const char *s)
{
	static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+,:@%=-";
	const bool odd = s[strspn(s, safe)] != '\0';

	buf_puts(to, odd ? "$'" : "");
	for (; *s; s++)
		if (strchr(safe, *s))
			buf_putc(to, *s);
		else
			buf_printf(to, "\\%03o", (unsigned char)*s);
	buf_puts(to, odd ? "'" : "");
}

struct k_fix fix_of(const char *command, const char *program)
{
	const char *at = strstr(command, DOC_PROGRAM), *base = program ? strrchr(program, '/') : NULL;
	struct k_fix f;
	struct buf b = { 0 };

	if (at && base && !strcmp(base, "/tally")) {
		buf_printf(&b, "%.*s", (int)(at - command), command);
		put_word(&b, program);
		buf_puts(&b, at + strlen(DOC_PROGRAM));
	}
	if (!b.n || b.failed || b.n > FIX_MOST)
		snprintf(f.text, sizeof(f.text), "%s", command);
	else
		snprintf(f.text, sizeof(f.text), "%s", b.p);
	buf_free(&b);
	return f;
}

struct k_fix k_fix(const char *command)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n < 0 ? 0 : n] = '\0';
	return fix_of(command, n < 0 ? NULL : path);
}

int rights_bpf(const char *what, struct err *e)
{
	if (capability_or_admin(CAP_BPF) && capability_or_admin(CAP_PERFMON))
		return err_set(e, TALLY_EPERM,
			       "%s is not permitted although cap_bpf is granted: a seccomp filter, "
			       "a container or the kernel's lockdown forbids bpf(2)",
			       what);
	return err_set(e, TALLY_EPERM, "%s needs %s: %s", what,
		       capability_or_admin(CAP_BPF) ? "cap_perfmon" : "cap_bpf and cap_perfmon", k_fix(FIX_TRACE).text);
}

int rights_perf(struct err *e)
{
	char level[16];

	if (file_small("/proc/sys/kernel/perf_event_paranoid", level, sizeof(level)) < 0)
		strcpy(level, "unknown");
	if (capability_or_admin(CAP_PERFMON))
		return err_set(e, TALLY_EPERM,
			       "counting on whole CPUs is not permitted although cap_perfmon is granted: "
			       "perf_event_paranoid is %s, or a seccomp filter or container forbids "
			       "perf_event_open(2)",
			       level);
	return err_set(e, TALLY_EPERM, "counting on whole CPUs needs cap_perfmon (perf_event_paranoid is %s): %s",
		       level, k_fix(FIX_COUNT).text);
}

/* ---- trying ---------------------------------------------------------------------- */

static int try_perf(struct err *e)
{
	struct k_event ev = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK, .period = 1000000000 };

	return k_event_try(&ev, e);
}

static int try_bpf(struct err *e)
{
	struct bpf_ins ins[] = { I_MOV_IMM(R0, 0), I_EXIT() };
	int fd;

	libbpf_set_print(NULL);
	fd = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, NULL, "Dual MIT/GPL", (const struct bpf_insn *)(const void *)ins,
			   COUNT(ins), NULL);
	if (fd < 0) {
		if (errno == EPERM)
			return rights_bpf("loading a BPF program", e);
		return err_set(e, TALLY_ENOTSUP, "this kernel loads no BPF program for perf events: %s",
			       strerror(errno));
	}
	close(fd);
	return 0;
}

int k_may_run(bool events, struct err *e)
{
	int rc = events ? try_perf(e) : 0;

	return rc < 0 ? rc : try_bpf(e);
}

/* Hidden addresses are shown as zero; but zero is also the true address of a few symbols at the head of the table. */
int kallsyms_hidden(const char *path)
{
	char text[16384], *line = text, *next;
	int n = file_small_fd(rights_open(CAP_SYSLOG, path, O_RDONLY), text, sizeof(text));

	if (n <= 0)
		return n < 0 ? n : -ENOENT;
	for (; line; line = next ? next + 1 : NULL) {
		next = strchr(line, '\n');
		if (strspn(line, "0") < strspn(line, "0123456789abcdef"))
			return 0;
	}
	return 1;
}
