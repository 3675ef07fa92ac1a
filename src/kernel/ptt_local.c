/*
 * ptt_local.c: the PTT devices of this machine: sysfs and perf events of the Linux driver.
 *
 * A device is a PMU, a folder of bus/event_source/devices:
 *
 *	hisi_ptt<sicl>_<core>/type                  number for perf_event_attr.type
 *	hisi_ptt<sicl>_<core>/cpumask               CPUs near the device; a trace runs on the first
 *	.../root_port_filters/0000:00:10.0          "0x80001", mode 400; beside it `multiselect`, no filter
 *	.../requester_filters/0000:01:00.0          "0x00100", mode 400
 *	.../tune/qos_tx_p                           "1", mode 600
 *
 * A filter's value follows from its name (hisi_ptt.rst, "Filter"), so who may not read the files gets
 * the list all the same.  What the files say is checked: other names, other numbers
 * are no filters.
 *
 * A trace is an event for all processes on one CPU, with a small ring for records
 * and the AUX ring; how they are read is ptt_aux.c.  The driver falls asleep when the AUX ring
 * is full or near its end.  Once all was read we start it again: disabled and enabled where a DMA
 * buffer fits before the ring's end; else as a new event with a new ring, since the driver would start there, write
 * past the end and take the kernel with it.  The bytes after that are marked: some are missing before them.
 *
 * read(2) of the event is never used: older drivers have no function for it, and the kernel would call it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/kernel_int.h"
#include "kernel/ptt_aux_int.h"
#include "kernel/ptt_local.h"
#include "ptt/rule.h"

#define DEVICES "bus/event_source/devices"
#define PREFIX "hisi_ptt"
#define DATA_PAGES 16u     /* of the ring for records: a commit is 32 bytes there */
#define FILTERS_MOST 4096u /* of a device and kind */
#define PATH_BYTES 768u

struct trace {
	int fd;       /* -1: none */
	bool running; /* not stopped yet */
	uint32_t type, cpu;
	uint64_t config;
	char device[32];
	size_t ring_bytes, page;
	void *data, *aux; /* mapped, or NULL */
	struct aux_ring ring;
};
struct local {
	char root[512];
	struct ptt_pmu *pmu;
	uint32_t n, cap;
	struct trace trace;
};

/* root/bus/event_source/devices/DEVICE/folder/file, the last two "" when not wanted. */
static bool path_of(const struct local *l, char to[static PATH_BYTES], const char *device, const char *folder,
		    const char *file)
{
	int n = snprintf(to, PATH_BYTES, "%s/" DEVICES "/%s%s%s%s%s", l->root, device, *folder ? "/" : "", folder,
			 *file ? "/" : "", file);

	return n > 0 && (size_t)n < PATH_BYTES;
}

/* A number and nothing else; -errno of reading, -EINVAL when it is none or above most. */
static int number_of(const char *path, uint64_t most, uint64_t *ret)
{
	char text[64];
	int n = file_small(path, text, sizeof(text));

	if (n < 0)
		return n;
	return (size_t)n == strlen(text) && text_u64(text, ret) && *ret <= most ? 0 : -EINVAL;
}

/* ---- filters ------------------------------------------------------------------------- */

/* "0000:00:10.0" to bus 15:8, slot 7:3, function 2:0. */
static bool filter_number(const char *name, uint32_t *ret)
{
	unsigned domain, bus, slot, function;
	size_t n = strlen(name);
	int end = 0;

	if (n >= sizeof(((struct ptt_filter *)0)->name) || strspn(name, "0123456789abcdef:.") != n)
		return false;
	if (sscanf(name, "%8x:%2x:%2x.%1x%n", &domain, &bus, &slot, &function, &end) != 4 || (size_t)end != n)
		return false;
	*ret = bus << 8 | slot << 3 | function;
	return slot < 32 && function < 8;
}

static const char *const filter_folder[] = { "requester_filters", "root_port_filters" };

/* False: no filter, or it has just gone. */
static bool filter_read(const struct local *l, const char *device, bool port, const char *name, struct ptt_filter *f)
{
	char path[PATH_BYTES];
	uint32_t place;
	uint64_t value;
	int rc;

	if (!filter_number(name, &place) || !path_of(l, path, device, filter_folder[port], name))
		return false;
	rc = number_of(path, port ? 0xfffff : 0xffff, &value);
	if (rc == -EACCES || rc == -EPERM)
		value = port ? 0x80000u | 1u << (place >> 3 & 7) * 2 : place;
	else if (rc < 0 || port != value >> 19)
		return false;
	f->port = port;
	memcpy(f->name, name, strlen(name) + 1);
	f->value = (uint32_t)value;
	return true;
}

struct filters {
	struct ptt_filter *v;
	uint32_t n, cap;
};

static int filters_add(const struct local *l, const char *device, bool port, struct filters *to, struct err *e)
{
	struct ptt_filter f, *slot;
	char path[PATH_BYTES];
	uint32_t most = to->n + FILTERS_MOST;
	struct dirent *d;
	DIR *dir;
	int rc = 0;

	dir = path_of(l, path, device, filter_folder[port], "") ? opendir(path) : NULL;
	while (rc == 0 && dir && to->n < most && (d = readdir(dir))) {
		memset(&f, 0, sizeof(f));
		if (!filter_read(l, device, port, d->d_name, &f))
			continue;
		slot = VEC_NEW(to->v, to->n, to->cap);
		if (slot)
			*slot = f;
		else
			rc = err_oom(e);
	}
	if (dir)
		closedir(dir);
	return rc;
}

static int by_filter(const void *x, const void *y)
{
	const struct ptt_filter *a = x, *b = y;

	if (a->port != b->port)
		return a->port ? -1 : 1;
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int filters_read(const struct local *l, struct ptt_pmu *p, struct err *e)
{
	struct filters f = { 0 };
	int rc = filters_add(l, p->name, true, &f, e);

	if (rc == 0)
		rc = filters_add(l, p->name, false, &f, e);
	if (rc < 0) {
		mem_free(f.v);
		return rc;
	}
	if (f.n)
		qsort(f.v, f.n, sizeof(*f.v), by_filter);
	p->filter = f.v;
	p->nfilters = f.n;
	return 0;
}

/* ---- devices ---------------------------------------------------------------------------- */

static bool is_device(const char *name)
{
	size_t n = strlen(name), prefix = sizeof(PREFIX) - 1;

	return n > prefix && n < sizeof(((struct ptt_pmu *)0)->name) && !memcmp(name, PREFIX, prefix) &&
	       strspn(name + prefix, "0123456789_") == n - prefix;
}

/* "" when it is no list of CPUs; of a long one the front. */
static void cpus_read(const char *path, char *to, size_t n)
{
	char text[4096];
	int len = file_small(path, text, sizeof(text));
	char *comma;

	if (len <= 0 || text[0] < '0' || text[0] > '9' || strspn(text, "0123456789,-") != (size_t)len)
		return;
	if ((size_t)len >= n) {
		text[n] = 0;
		comma = strrchr(text, ',');
		if (!comma)
			return;
		*comma = 0;
	}
	memcpy(to, text, strlen(text) + 1);
}

/* 1: *p is a device; 0: it is none that could be opened. */
static int device_read(const struct local *l, const char *name, struct ptt_pmu *p, struct err *e)
{
	char path[PATH_BYTES];
	uint64_t type;
	int rc;

	memset(p, 0, sizeof(*p));
	if (!is_device(name) || !path_of(l, path, name, "type", "") || number_of(path, UINT32_MAX, &type) < 0)
		return 0;
	strcpy(p->name, name);
	p->type = (uint32_t)type;
	if (path_of(l, path, name, "cpumask", ""))
		cpus_read(path, p->cpus, sizeof(p->cpus));
	rc = filters_read(l, p, e);
	return rc < 0 ? rc : 1;
}

static void list_free(struct local *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		mem_free((void *)(uintptr_t)l->pmu[i].filter);
	mem_free(l->pmu);
	l->pmu = NULL;
	l->n = l->cap = 0;
}

static int by_name(const void *a, const void *b)
{
	return strverscmp(((const struct ptt_pmu *)a)->name, ((const struct ptt_pmu *)b)->name);
}

static int list_read(struct local *l, DIR *dir, struct err *e)
{
	struct ptt_pmu p, *slot;
	struct dirent *d;
	int rc = 0;

	while (rc >= 0 && l->n < PTT_PMU_MOST && (d = readdir(dir))) {
		rc = device_read(l, d->d_name, &p, e);
		if (rc <= 0)
			continue;
		slot = VEC_NEW(l->pmu, l->n, l->cap);
		if (slot) {
			*slot = p;
		} else {
			mem_free((void *)(uintptr_t)p.filter);
			rc = err_oom(e);
		}
	}
	if (l->n)
		qsort(l->pmu, l->n, sizeof(*l->pmu), by_name);
	return rc < 0 ? rc : 0;
}

static int local_list(void *arg, const struct ptt_pmu **ret, uint32_t *n, struct err *e)
{
	struct local *l = arg;
	char path[PATH_BYTES];
	DIR *dir;
	int rc;

	list_free(l);
	path_of(l, path, "", "", "");
	dir = opendir(path);
	if (!dir && errno != ENOENT && errno != ENOTDIR)
		return err_set(e, errno == EACCES ? TALLY_EPERM : TALLY_EIO, "cannot read %s: %s", path,
			       strerror(errno));
	rc = dir ? list_read(l, dir, e) : 0;
	if (dir)
		closedir(dir);
	if (rc == 0 && !l->n)
		rc = err_set(e, TALLY_ENOTSUP,
			     "this machine has no PTT device (no " PREFIX "* in %s); the model '--on kunpeng' has two",
			     path);
	if (rc < 0) {
		list_free(l);
		return rc;
	}
	*ret = l->pmu;
	*n = l->n;
	return 0;
}

/* ---- tunables ------------------------------------------------------------------------------ */

static int tune_failed(const char *doing, const char *path, int no, struct err *e)
{
	switch (no) {
	case EACCES:
	case EPERM:
		return err_set(e, TALLY_EPERM, "%s %s: permission denied (only root may, mode 600): run with sudo",
			       doing, path);
	case ETIMEDOUT:
	case EBUSY:
		return err_set(e, TALLY_EBUSY, "%s %s: the device did not answer in time; try again", doing, path);
	case EINVAL:
		return err_set(e, TALLY_EINVAL, "%s %s: the driver refuses the value; 0, 1 and 2 are valid", doing,
			       path);
	case ENOENT:
		return err_set(e, TALLY_ENOTSUP,
			       "this machine has no %s: the device is gone, or its driver does not have it", path);
	default:
		return err_set(e, TALLY_EIO, "%s %s: %s", doing, path, strerror(no));
	}
}

static int tune_path(const struct local *l, uint32_t i, enum ptt_tune t, char path[static PATH_BYTES], struct err *e)
{
	if (i >= l->n || t >= PTT_TUNES || !path_of(l, path, l->pmu[i].name, "tune", ptt_tunables[t].name))
		return err_set(e, TALLY_EINVAL, "there is no such device or tunable");
	return 0;
}

static int local_tune_get(void *arg, uint32_t i, enum ptt_tune t, uint32_t *value, struct err *e)
{
	char path[PATH_BYTES], text[64];
	uint64_t v;
	int n, rc = tune_path(arg, i, t, path, e);

	if (rc < 0)
		return rc;
	n = file_small(path, text, sizeof(text));
	if (n < 0)
		return tune_failed("reading", path, -n, e);
	if ((size_t)n != strlen(text) || !text_u64(text, &v) || v > 65535)
		return err_set(e, TALLY_EIO, "%s does not hold a 16-bit number", path);
	*value = (uint32_t)v;
	return 0;
}

static int local_tune_set(void *arg, uint32_t i, enum ptt_tune t, uint32_t value, struct err *e)
{
	char path[PATH_BYTES], text[16];
	int fd, no, n, rc = tune_path(arg, i, t, path, e);

	if (rc < 0)
		return rc;
	if (value > 65535)
		return err_set(e, TALLY_EINVAL, "%u is more than 65535", value);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return tune_failed("writing", path, errno, e);
	n = snprintf(text, sizeof(text), "%u\n", value);
	no = write(fd, text, (size_t)n) < 0 ? errno : 0;
	close(fd);
	return no ? tune_failed("writing", path, no, e) : 0;
}

/* ---- a trace: opening ------------------------------------------------------------------------- */

static int event_refuses(const struct trace *t, int no, struct err *e)
{
	switch (no) {
	case EACCES:
	case EPERM:
		return err_set(e, TALLY_EPERM, "a trace of %s needs cap_perfmon: %s", t->device, k_fix(FIX_COUNT).text);
	case EBUSY:
		return err_set(e, TALLY_EBUSY,
			       "%s is busy: it runs one trace at a time, and another one is running (perf record?)",
			       t->device);
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return err_set(e, TALLY_ENOTSUP, "%s was removed, or CPU %u on its socket is offline", t->device,
			       t->cpu);
	case EOPNOTSUPP:
		return err_set(e, TALLY_ENOTSUP, "the kernel's driver does not support this event of %s on CPU %u",
			       t->device, t->cpu);
	case EINVAL:
		return err_set(e, TALLY_EINVAL,
			       "the kernel's driver refuses config 0x%llx of %s: a filter that has just gone, "
			       "or a direction, type or format that it does not know",
			       (unsigned long long)t->config, t->device);
	case ENOSYS:
		return err_set(e, TALLY_ENOTSUP, "this kernel has no perf events");
	default:
		return err_set(e, TALLY_EIO, "cannot open the event of %s: %s", t->device, strerror(no));
	}
}

static int ring_refused(const struct trace *t, const char *which, size_t bytes, int no, struct err *e)
{
	const size_t least = PTT_BUFFERS * (size_t)PTT_BUFFER_BYTES;

	if (no == EPERM || no == EACCES)
		return err_set(e, TALLY_EPERM,
			       "%s of %zu KiB exceeds the limit of locked memory: sudo sysctl "
			       "kernel.perf_event_mlock_kb=%zu, or cap_ipc_lock",
			       which, bytes / 1024, bytes / 1024 + 1024);
	if (no == ENOMEM && t->ring_bytes < least)
		return err_set(e, TALLY_EINVAL, "%s of %zu MiB is too small for the kernel's driver: -m 16M or more",
			       which, bytes >> 20);
	if (no == ENOMEM)
		return err_set(e, TALLY_ENOMEM, "out of memory for %s of %zu KiB", which, bytes / 1024);
	if (no == EOPNOTSUPP || no == EINVAL)
		return err_set(e, TALLY_ENOTSUP, "PMU %s (type %u) gives no AUX data", t->device, t->type);
	return err_set(e, TALLY_EIO, "cannot mmap %s: %s", which, strerror(no));
}

static void *ptt_map_ring(const struct trace *t, size_t bytes, uint64_t at)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, t->fd, (off_t)at);

	return p == MAP_FAILED ? NULL : p;
}

static size_t data_bytes(const struct trace *t)
{
	return t->page * (1 + DATA_PAGES);
}

/* The AUX ring is asked for by writing its place into the first page. (perf_event_open(2)) */
static int rings_map(struct trace *t, struct err *e)
{
	struct perf_event_mmap_page *page;

	t->data = ptt_map_ring(t, data_bytes(t), 0);
	if (!t->data)
		return ring_refused(t, "the ring for records", data_bytes(t), errno, e);
	page = t->data;
	page->aux_offset = data_bytes(t);
	page->aux_size = t->ring_bytes;
	t->aux = ptt_map_ring(t, t->ring_bytes, data_bytes(t));
	if (!t->aux)
		return ring_refused(t, "an AUX ring", t->ring_bytes, errno, e);
	t->ring = aux_ring(page, (char *)t->data + t->page, t->page * DATA_PAGES, t->aux, t->ring_bytes);
	return 0;
}

static void trace_close(struct trace *t)
{
	if (t->aux)
		munmap(t->aux, t->ring_bytes);
	if (t->data)
		munmap(t->data, data_bytes(t));
	if (t->fd >= 0)
		close(t->fd);
	t->aux = t->data = NULL;
	t->fd = -1;
	t->running = false;
}

/* Each commit wakes us, and each record; of the event itself nothing is left out, since the PMU knows no modes. */
static int trace_open(struct trace *t, struct err *e)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = t->type,
		.config = t->config,
		.sample_period = 1,
		.disabled = 1,
		.watermark = 1,
		.wakeup_watermark = 1,
		.aux_watermark = PTT_BUFFER_BYTES,
	};
	int rc;

	rc = event_syscall(&attr, 0, -1, (int)t->cpu);
	if (rc < 0)
		return event_refuses(t, -rc, e);
	t->fd = rc;
	rc = rings_map(t, e);
	if (rc == 0 && ioctl(t->fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
		rc = err_set(e, TALLY_EIO, "cannot start the trace of %s: %s", t->device, strerror(errno));
	if (rc < 0)
		trace_close(t);
	else
		t->running = true;
	return rc;
}

static int local_start(void *arg, const struct ptt_pmu *p, const struct ptt_ask *ev, size_t ring, struct err *e)
{
	struct local *l = arg;
	struct trace *t = &l->trace;

	if (t->running)
		return err_set(e, TALLY_EBUSY, "a trace of %s is already running: a device runs one at a time",
			       t->device);
	if (!ring || ring & (ring - 1) || ring % PTT_BUFFER_BYTES)
		return err_set(e, TALLY_EINVAL,
			       "invalid AUX ring size of %zu bytes (expected a power of two, 4 MiB or more)", ring);
	if (!p->type)
		return err_set(e, TALLY_ENOTSUP, "this kernel has no PMU %s", p->name);
	trace_close(t);
	*t = (struct trace){ .fd = -1,
			     .type = p->type,
			     .cpu = (uint32_t)strtoul(p->cpus, NULL, 10),
			     .config = ptt_ask_config(ev),
			     .ring_bytes = ring,
			     .page = (size_t)sysconf(_SC_PAGESIZE) };
	memcpy(t->device, p->name, sizeof(t->device));
	return trace_open(t, e);
}

/* ---- a trace: running --------------------------------------------------------------------------- */

static int on_off(const struct trace *t, bool on, struct err *e)
{
	if (ioctl(t->fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0) == 0)
		return 0;
	return err_set(e, TALLY_EIO, "the trace of %s cannot be %s: %s", t->device, on ? "started again" : "stopped",
		       strerror(errno));
}

/* The driver sleeps and all was read. When disabling brings more bytes, it was not quite asleep: they come first. */
static int trace_wake(struct trace *t, struct err *e)
{
	int rc = on_off(t, false, e);

	if (rc < 0 || aux_waiting(&t->ring))
		return rc;
	if (aux_can_start(&t->ring)) {
		rc = on_off(t, true, e);
	} else {
		trace_close(t);
		rc = trace_open(t, e);
	}
	if (rc == 0)
		aux_woken(&t->ring);
	return rc;
}

static int ptt_taken_chunk(struct trace *t, struct ptt_aux *a, struct err *e)
{
	int rc = aux_take(&t->ring, a);

	return rc < 0 ? err_set(e, TALLY_EIO,
				"the kernel moved the AUX position of %s backwards: its trace can't be read",
				t->device) :
			rc;
}

/* Nothing came in time: either nothing passes the link, or the event sleeps and we could not see it (ptt_aux.c), or the
 * device was taken away. Enabling does nothing to an event that is on. */
static int trace_quiet(const struct local *l, struct trace *t, struct err *e)
{
	char path[PATH_BYTES];

	if (path_of(l, path, t->device, "type", "") && access(path, F_OK) < 0 && errno == ENOENT)
		return err_set(e, TALLY_EEND, "%s was removed", t->device);
	return aux_can_start(&t->ring) ? on_off(t, true, e) : 0;
}

static int trace_wait(const struct local *l, struct trace *t, struct ptt_aux *a, int timeout_ms, struct err *e)
{
	struct pollfd p = { .fd = t->fd, .events = POLLIN };
	int rc, n;

	if (t->ring.asleep && (rc = trace_wake(t, e)) < 0)
		return rc;
	p.fd = t->fd;
	n = aux_waiting(&t->ring) ? 1 : poll(&p, 1, timeout_ms);
	rc = ptt_taken_chunk(t, a, e);
	if (rc != 0)
		return rc;
	if (n > 0 && p.revents & (POLLERR | POLLHUP | POLLNVAL))
		return err_set(e, TALLY_EEND, "%s was removed", t->device);
	return n == 0 ? trace_quiet(l, t, e) : 0;
}

/* After the last bytes: what is left to say is that some are missing. */
static int trace_rest(struct trace *t, struct ptt_aux *a)
{
	if (t->ring.asleep || t->ring.gap) {
		*a = (struct ptt_aux){ .p = t->aux, .flags = PTT_AUX_TRUNCATED };
		t->ring.asleep = t->ring.gap = false;
		return 1;
	}
	trace_close(t);
	return 0;
}

static int local_next(void *arg, struct ptt_aux *a, int timeout_ms, struct err *e)
{
	struct local *l = arg;
	struct trace *t = &l->trace;
	int rc;

	if (t->fd < 0)
		return 0;
	aux_release(&t->ring);
	rc = ptt_taken_chunk(t, a, e);
	if (rc == 0)
		rc = t->running ? trace_wait(l, t, a, timeout_ms, e) : trace_rest(t, a);
	return rc;
}

static int local_stop(void *arg, struct err *e)
{
	struct local *l = arg;
	int rc;

	if (!l->trace.running)
		return 0;
	aux_stop(&l->trace.ring);
	rc = on_off(&l->trace, false, e);
	l->trace.running = false;
	return rc;
}

static void local_close(void *arg)
{
	struct local *l = arg;

	if (!l)
		return;
	trace_close(&l->trace);
	list_free(l);
	mem_free(l);
}

static const struct ptt_pmus_ops local_ops = {
	.what = "this machine",
	.list = local_list,
	.tune_get = local_tune_get,
	.tune_set = local_tune_set,
	.start = local_start,
	.next = local_next,
	.stop = local_stop,
	.close = local_close,
};

int k_ptt_pmus(struct ptt_pmus *ret, const char *sysfs, struct err *e)
{
	struct local *l = mem_alloc(sizeof(*l));

	if (!l)
		return err_oom(e);
	l->trace.fd = -1;
	if ((size_t)snprintf(l->root, sizeof(l->root), "%s", sysfs ? sysfs : "/sys") >= sizeof(l->root)) {
		mem_free(l);
		return err_set(e, TALLY_EINVAL, "the path of the sysfs tree is longer than %zu bytes",
			       sizeof(l->root) - 1);
	}
	*ret = (struct ptt_pmus){ l, &local_ops };
	return 0;
}
