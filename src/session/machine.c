/*
 * machine.c: runs a model for outside clients.
 *
 * One thread: it waits at all doors at once, serves whoever is there, and lets the
 * machine's time follow the clock.  Where the model is slower than the clock its time
 * falls behind rather than let clients wait: a turn is SLICE_MS of it at most.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "attach/attach.h"
#include "session/platform_int.h"
#include "session/ptt_int.h"

#define TURN_MS 2                             /* between two turns, when nobody is at a door */
#define SLICE_MS 10u
#define MS UINT64_C(1000000)
#define DOORS 3u

struct host {                                 /* a machine and its doors */
	struct tally_machine m;
	struct kunpeng *k;
	uint32_t device;                      /* behind vfio-user */
	struct door *door[DOORS];
	struct pollfd fd[DOORS];
	uint32_t n;
	struct err *e;
};

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

static void note(const struct host *h, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void note(const struct host *h, const char *fmt, ...)
{
	struct buf b = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	buf_putc(&b, '\n');
	if (h->m.note && !b.failed)
		(void)h->m.note(h->m.arg, b.p, b.n);
	buf_free(&b);
}

/* ---- doors ------------------------------------------------------------------------------- */

static int find_device(struct host *h)
{
	const char *names[PTT_PMU_MOST], *near;
	uint32_t n = kunpeng_ndevices(h->k);

	h->device = n - 1;                    /* hisi_ptt0_2, whose root ports are those of the examples */
	for (uint32_t i = 0; h->m.device && i < n; i++) {
		names[i] = kunpeng_pmu(h->k, i)->name;
		if (!strcmp(names[i], h->m.device)) {
			h->device = i;
			return 0;
		}
	}
	if (!h->m.device)
		return 0;
	near = text_nearest(h->m.device, names, n);
	return err_set(h->e, TALLY_EINVAL, "the machine has no device '%s'%s%s%s", h->m.device, near ? "; did you mean '" : "",
		       near ? near : "", near ? "'?" : "");
}

static int opened(struct host *h, int rc, struct door *d)
{
	if (rc < 0)
		return rc;
	h->door[h->n] = d;
	h->fd[h->n++] = (struct pollfd){ .fd = d->op->fd(d), .events = POLLIN };
	return 0;
}

static int open_doors(struct host *h)
{
	struct door *d = NULL;
	int rc = 0;

	if (h->m.vfio_user) {
		rc = opened(h, door_vfio(&d, h->k, h->device, h->m.vfio_user, h->e), d);
		if (rc == 0)
			note(h, "%s waits for a vfio-user client at %s", kunpeng_pmu(h->k, h->device)->name, h->m.vfio_user);
	}
	if (rc == 0 && h->m.listen) {
		rc = opened(h, door_local(&d, &local_kunpeng, h->k, h->m.listen, h->e), d);
		if (rc == 0)
			note(h, "the machine listens: --on unix:%s", h->m.listen);
	}
	if (rc == 0 && h->m.sysfs) {
		rc = opened(h, door_sysfs(&d, h->k, h->m.sysfs, h->e), d);
		if (rc == 0)
			note(h, "the devices' files are in %s", h->m.sysfs);
	}
	return rc;
}

static void close_doors(struct host *h)
{
	while (h->n) {
		struct door *d = h->door[--h->n];

		d->op->close(d);
	}
}

/* ---- turns --------------------------------------------------------------------------------- */

static int serve(struct host *h)
{
	int rc = 0, ready = poll(h->fd, h->n, TURN_MS);

	if (ready < 0 && errno != EINTR)
		return err_set(h->e, TALLY_EIO, "poll: %s", strerror(errno));
	for (uint32_t i = 0; rc == 0 && ready > 0 && i < h->n; i++)
		if (h->fd[i].revents)
			rc = h->door[i]->op->serve(h->door[i], h->e);
	return rc;
}

static int pass(struct host *h, uint64_t *then)
{
	uint64_t now = clock_ns(), ns = now - *then < SLICE_MS * MS ? now - *then : SLICE_MS * MS;
	int rc = 0;

	*then = now;
	kunpeng_run(h->k, kunpeng_now(h->k) + ns);
	for (uint32_t i = 0; rc == 0 && i < h->n; i++)
		if (h->door[i]->op->passed)
			rc = h->door[i]->op->passed(h->door[i], h->e);
	return rc;
}

static int turns(struct host *h)
{
	uint64_t then = clock_ns();
	int rc = 0;

	while (rc == 0 && !(h->m.stop && *h->m.stop)) {
		rc = serve(h);
		if (rc == 0)
			rc = pass(h, &then);
	}
	return rc;
}

static void sum_up(const struct host *h)
{
	for (uint32_t i = 0; i < kunpeng_ndevices(h->k); i++) {
		const struct ptt_dev_counts *c = ptt_dev_counts(kunpeng_device(h->k, i));

		if (c->seen)
			note(h, "%s: last trace: %llu packets seen, %llu recorded, %llu lost, %llu buffers", kunpeng_pmu(h->k, i)->name,
			     (unsigned long long)c->seen, (unsigned long long)c->recorded, (unsigned long long)c->lost,
			     (unsigned long long)c->buffers);
	}
}

static int run(struct host *h)
{
	struct plat_on on;
	int rc = plat_parse(&on, h->m.machine, h->e);

	if (rc == 0 && !on.row->embedded)
		rc = err_set(h->e, TALLY_EINVAL, "'%s' is no machine that can be run; kunpeng is", h->m.machine);
	if (rc == 0 && !h->m.listen && !h->m.vfio_user && !h->m.sysfs)
		rc = err_set(h->e, TALLY_EINVAL, "the machine has no door: --listen, --vfio-user or --sysfs");
	if (rc == 0)
		rc = kunpeng_open(&h->k, &on.kunpeng, h->e);
	if (rc == 0)
		rc = find_device(h);
	if (rc == 0)
		rc = open_doors(h);
	if (rc == 0)
		rc = turns(h);
	if (h->k)
		sum_up(h);
	close_doors(h);
	kunpeng_close(h->k);
	return rc;
}

int tally_machine_run(const struct tally_machine *m, char *words, size_t n)
{
	struct err e = { 0 };
	struct host h = { .e = &e };
	int rc = ptt_take_opts(&h.m, sizeof(h.m), m) && h.m.machine ? run(&h) : err_set(&e, TALLY_EINVAL, "unknown options");

	if (n)
		snprintf(words, n, "%s", rc < 0 ? (e.text[0] ? e.text : tally_strerror(rc)) : "");
	return rc;
}
