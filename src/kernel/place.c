/*
 * place.c: programs at places in the code of a process (uprobes).
 *
 * The kernel puts a breakpoint where a file's byte is mapped executable, and runs the program when the process comes
 * there.  What is asked for are many places of one file at once: Linux 6.10 and later take them in one call
 * (uprobe_multi); before, each place is a perf event of its own.  (6.6 has the call, too, but filters threads in place
 * of processes: it would lose those of every thread but the first.)  Either way a place has a cookie, by which the
 * program knows where it is.
 *
 * Only that process is meant, or every process that maps the file, where the program itself tells whom it means. Else
 * its fork starts without the breakpoints, since the kernel takes them out of an address space that nobody asked for.
 * A place may have a semaphore: a 16-bit word of the process which the kernel raises while the place is armed.
 *
 * Programs of returns are attached first and detached last: whoever is seen to enter is seen to return.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "kernel/kernel_int.h"
#include "kernel/libbpf_int.h"

#define UPROBE_PMU "/sys/bus/event_source/devices/uprobe/"

/* linux/bpf.h of Linux 6.6: newer than what we are built with */
#define ATTACH_UPROBE_MULTI 48u
#define FLAG_MULTI_RETURN 1u
struct multi_attr {
	uint32_t prog, target, attach_type, flags;
	uint64_t path, offsets, semaphores, cookies;
	uint32_t n, multi_flags, pid, unused;
};
static_assert(offsetof(struct multi_attr, path) == 16 && sizeof(struct multi_attr) == 64,
	      "union bpf_attr, link_create.uprobe_multi");

bool places_in_one_call(void)
{
	struct utsname u;
	unsigned major = 0, minor = 0;

	return uname(&u) == 0 && sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 10));
}

uint32_t places_attach_type(void)
{
	return places_in_one_call() ? ATTACH_UPROBE_MULTI : 0;
}

/* ---- what is to be attached ------------------------------------------------------ */

int k_attach_places(struct k_run *k, uint32_t prog, const struct k_places *p, struct err *e)
{
	struct run_places *to;

	if (prog >= k->nprogs)
		return err_set(e, TALLY_EINVAL, "there is no program %u", prog);
	to = VEC_NEW(k->places, k->nplaces, k->cap_places);
	if (!to)
		return err_oom(e);
	*to = (struct run_places){ .prog = k->prog[prog], .p = *p };
	return 0;
}

static int places_refused(const struct run_places *g, uint64_t offset, int no, struct err *e)
{
	switch (no) {
	case EPERM:
	case EACCES:
		return rights_bpf("attaching a BPF program to a process", e);
	case EMFILE:
	case ENFILE:
		return run_file_refused("attaching a BPF program to a process", no, e);
	case ESRCH:
		return err_set(e, TALLY_EINVAL, "process %u has ended", g->p.pid);
	case ENOMEM:
		return err_oom(e);
	case EINVAL:
	case EOPNOTSUPP:
	case 524: /* ENOTSUPP, which no header of user space has */
		return err_set(e, TALLY_ENOTSUP,
			       "the kernel can't place a probe on the instruction at offset 0x%llx of %s",
			       (unsigned long long)offset, g->p.name);
	default:
		return err_set(e, TALLY_EIO, "placing a probe at offset 0x%llx of %s failed: %s",
			       (unsigned long long)offset, g->p.name, strerror(no));
	}
}

/* ---- Linux 6.10 and later: all in one call ------------------------------------------ */

static int places_attach_multi(const struct run_places *g, uint32_t from, uint32_t n)
{
	uint64_t *words = mem_alloc(3ull * n * sizeof(*words)), *semaphore = words + n, *cookie = semaphore + n;
	struct multi_attr a = { .prog = (uint32_t)g->prog,
				.attach_type = ATTACH_UPROBE_MULTI,
				.n = n,
				.multi_flags = g->p.at_return ? FLAG_MULTI_RETURN : 0,
				.pid = g->p.pid };
	bool semaphores = false;
	char path[32];
	long fd;

	if (!words)
		return -ENOMEM;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", g->p.fd);
	for (uint32_t i = 0; i < n; i++) {
		words[i] = g->p.place[from + i].offset;
		semaphore[i] = g->p.place[from + i].semaphore;
		cookie[i] = g->p.place[from + i].cookie;
		semaphores |= semaphore[i] != 0;
	}
	a.path = (uint64_t)(uintptr_t)path;
	a.offsets = (uint64_t)(uintptr_t)words;
	a.semaphores = semaphores ? (uint64_t)(uintptr_t)semaphore : 0;
	a.cookies = (uint64_t)(uintptr_t)cookie;
	fd = syscall(SYS_bpf, BPF_LINK_CREATE, &a, sizeof(a));
	if (fd < 0)
		fd = -errno;
	mem_free(words);
	return (int)fd;
}

/* ---- before: one perf event each --------------------------------------------------- */

/* The first number of a file of the PMU that has one: "6", "config:0". */
static long places_pmu_number(const char *file)
{
	char text[32], *digits;

	if (file_small(file, text, sizeof(text)) < 0)
		return -1;
	digits = text + strcspn(text, "0123456789");
	return *digits ? strtol(digits, NULL, 10) : -1;
}

static int places_attach_event(const struct run_places *g, const struct k_place *place)
{
	const long type = places_pmu_number(UPROBE_PMU "type"), bit = places_pmu_number(UPROBE_PMU "format/retprobe"),
		   shift = places_pmu_number(UPROBE_PMU "format/ref_ctr_offset");
	LIBBPF_OPTS(bpf_link_create_opts, o, .perf_event.bpf_cookie = place->cookie);
	struct perf_event_attr a = { .size = sizeof(a), .sample_period = 1, .wakeup_events = 1 };
	char path[32];
	int event, fd;

	if (type < 0 || bit < 0 || bit > 63 || (place->semaphore && (shift < 0 || shift > 63)))
		return -EOPNOTSUPP;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", g->p.fd);
	a.type = (uint32_t)type;
	a.config = (g->p.at_return ? UINT64_C(1) << bit : 0) | (place->semaphore ? place->semaphore << shift : 0);
	a.uprobe_path = (uint64_t)(uintptr_t)path;
	a.probe_offset = place->offset;
	/* an event of every process must be of one CPU; the program runs on all */
	event = event_syscall(&a, 0, g->p.pid ? (int)g->p.pid : -1, g->p.pid ? -1 : 0);
	if (event < 0)
		return event;
	fd = bpf_link_create(g->prog, event, BPF_PERF_EVENT, &o);
	if (fd < 0)
		fd = -errno;
	close(event); /* the link holds it */
	return fd;
}

/* ---- enabling --------------------------------------------------------------------- */

static int places_keep(struct run_places *g, int fd)
{
	int *to = VEC_NEW(g->link, g->nlinks, g->cap_links);

	if (to)
		*to = fd;
	else
		close(fd);
	return to ? 0 : -ENOMEM;
}

/* n places from that one on: in one call, or in halves where that is refused, so that the one which is refused is
 * known. */
static int places_attach(struct run_places *g, uint32_t from, uint32_t n, struct err *e)
{
	const struct k_place *place = &g->p.place[from];
	int fd = -EOPNOTSUPP, rc;

	for (int tries = 0; tries < 2 && (n == 1 || places_in_one_call()); tries++) {
		fd = places_in_one_call() ? places_attach_multi(g, from, n) : places_attach_event(g, place);
		if (fd != -EMFILE || !run_more_files())
			break;
	}
	if (fd >= 0)
		fd = places_keep(g, fd);
	if (fd >= 0)
		return 0;
	if (n > 1) {
		rc = places_attach(g, from, n / 2, e);
		return rc < 0 ? rc : places_attach(g, from + n / 2, n - n / 2, e);
	}
	if (place->may_fail && fd != -EMFILE && fd != -ENFILE && fd != -ENOMEM && fd != -EPERM && fd != -EACCES) {
		g->nrefused++;
		return 0;
	}
	return places_refused(g, place->offset, -fd, e);
}

uint32_t k_places_refused(const struct k_run *k)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < k->nplaces; i++)
		n += k->places[i].nrefused;
	return n;
}

void places_detach(struct run_places *g)
{
	for (uint32_t i = 0; i < g->nlinks; i++)
		close(g->link[i]);
	mem_free(g->link);
	g->link = NULL;
	g->nlinks = g->cap_links = 0;
	g->armed = false;
}

int places_arm(struct run_places *g, struct err *e)
{
	const uint32_t n = g->p.nrefused;
	int rc;

	if (g->armed)
		return 0;
	g->armed = true;
	/* Each call that is refused takes some fifty milliseconds, since the kernel waits for all CPUs. */
	if (n && places_in_one_call()) {
		const int fd = places_attach_multi(g, 0, n);

		if (fd < 0)
			g->nrefused += n;
		else if (places_keep(g, fd) < 0)
			return err_oom(e);
	} else if (n && (rc = places_attach(g, 0, n, e)) < 0) {
		return rc;
	}
	return g->p.n == n ? 0 : places_attach(g, n, g->p.n - n, e);
}

void k_detach_places(struct k_run *k, int fd)
{
	for (uint32_t i = 0; i < k->nplaces; i++)
		if (k->places[i].p.fd == fd) {
			places_detach(&k->places[i]);
			k->places[i].p.n = k->places[i].p.nrefused = 0; /* k_enable_places() finds nothing to do */
		}
}

int places_enable(struct k_run *k, struct err *e)
{
	int rc = 0;

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; rc == 0 && i < k->nplaces; i++)
			if (k->places[i].p.at_return == (pass == 0) && !k->places[i].nlinks)
				rc = places_arm(&k->places[i], e);
	return rc;
}

int k_enable_places(struct k_run *k, struct err *e)
{
	return places_enable(k, e);
}

void places_disable(struct k_run *k)
{
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < k->nplaces; i++)
			if (k->places[i].p.at_return == (pass == 1))
				places_detach(&k->places[i]);
}

void places_close(struct k_run *k)
{
	places_disable(k);
	mem_free(k->places);
	k->places = NULL;
	k->nplaces = k->cap_places = 0;
}
