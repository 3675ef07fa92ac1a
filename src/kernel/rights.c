/*
 * rights.c: what this process may do, and the words when it may not.
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
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/insn.h"
#include "kernel/kernel_int.h"
#include "kernel/libbpf_int.h"

#define FIX_MOST 360u                         /* of a command: a refusal's other words are in front of it */

bool has_capability(unsigned cap)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &head, data) < 0)
		return false;
	return data[cap / 32].effective >> cap % 32 & 1;
}

/* CAP_SYS_ADMIN includes the finer two that Linux 5.8 took out of it. */
static bool may(unsigned cap)
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

struct k_fix rights_fix(void)
{
	return k_fix(FIX_RIGHTS);
}

int rights_bpf(const char *what, struct err *e)
{
	if (may(CAP_BPF) && may(CAP_PERFMON))
		return err_set(e, TALLY_EPERM,
			       "%s is not permitted although cap_bpf is granted: a seccomp filter, "
			       "a container or the kernel's lockdown forbids bpf(2)",
			       what);
	return err_set(e, TALLY_EPERM, "%s needs %s: %s", what,
		       may(CAP_BPF) ? "cap_perfmon" : "cap_bpf and cap_perfmon", rights_fix().text);
}

int rights_perf(struct err *e)
{
	char level[16];

	if (file_small("/proc/sys/kernel/perf_event_paranoid", level, sizeof(level)) < 0)
		strcpy(level, "unknown");
	if (may(CAP_PERFMON))
		return err_set(
			e, TALLY_EPERM,
			"counting on whole CPUs is not permitted although cap_perfmon is granted: "
			"perf_event_paranoid is %s, or a seccomp filter or container forbids "
			"perf_event_open(2)",
			level);
	return err_set(
		e, TALLY_EPERM,
		"counting on whole CPUs needs cap_perfmon (perf_event_paranoid is %s): %s",
		level, rights_fix().text);
}

/* ---- trying ---------------------------------------------------------------------- */

static int try_perf(struct err *e)
{
	struct k_event ev = { .type = PERF_TYPE_SOFTWARE,
			      .config = PERF_COUNT_SW_CPU_CLOCK,
			      .period = 1000000000 };

	return k_event_try(&ev, e);
}

static int bpf_refused(int no, struct err *e)
{
	if (no == EPERM)
		return rights_bpf("loading a BPF program", e);
	return err_set(e, TALLY_ENOTSUP, "this kernel loads no BPF program for perf events: %s",
		       strerror(no));
}

static int try_bpf(struct err *e)
{
	struct bpf_ins ins[] = { I_MOV_IMM(R0, 0), I_EXIT() };
	int fd;

	libbpf_set_print(NULL);
	fd = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, NULL, "Dual MIT/GPL",
			   (const struct bpf_insn *)(const void *)ins, COUNT(ins), NULL);
	if (fd < 0)
		return bpf_refused(errno, e);
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
	int n = file_small(path, text, sizeof(text));

	if (n <= 0)
		return n < 0 ? n : -ENOENT;
	for (; line; line = next ? next + 1 : NULL) {
		next = strchr(line, '\n');
		if (strspn(line, "0") < strspn(line, "0123456789abcdef"))
			return 0;
	}
	return 1;
}

static int try_symbols(struct err *e)
{
	if (kallsyms_hidden("/proc/kallsyms") > 0)
		return err_set(e, TALLY_EPERM,
			       "names of kernel functions need cap_syslog: %s", rights_fix().text);
	return 0;
}

void k_missing_rights(char *words, size_t n)
{
	static int (*const trial[])(struct err *) = { try_perf, try_bpf, try_symbols };
	size_t at = 0;

	*words = '\0';
	for (size_t i = 0; i < COUNT(trial) && at < n; i++) {
		struct err e = { 0 };

		if (trial[i](&e) < 0)
			at += (size_t)snprintf(words + at, n - at, "%s%s", at ? "\n" : "", e.text);
	}
}
