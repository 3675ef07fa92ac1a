/*
 * machine.c: runs a model for outside clients.  The ones with hypervisors: machine_hv.c, machine_image.c.
 *
 * One thread: it waits at all servers at once, serves whoever is there, and lets the machine's time follow the clock. 
 * A turn is SLICE_NS of it at most, so that a client is answered, and an interrupt of the device is heard, soon after
 * it came: a driver that must empty one buffer before the next is full has the time it would have.  Where the model is
 * slower than the clock its time falls behind: what is owed is never more than OWED_NS.  While nobody is at a server
 * the machine stands still: what it would send nobody receives, and it would cost a tenth of a CPU.
 *
 * A device that a vfio-user client may take is that client's from the start, whether one is there or not: its
 * driver tunes by several registers in turn, between which nobody may come.  The other servers show it all the same.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "attach/attach.h"
#include "kernel/kernel.h"
#include "platform/hv_machine_int.h"
#include "platform/machine_log.h"

#define TURN_MS 2   /* between two turns, when clients are silent, */
#define IDLE_MS 200 /* and when there are none: how long `stop` may be unseen */
#define MS UINT64_C(1000000)
#define SLICE_NS (MS / 10)
#define OWED_NS (10 * MS)
#define SERVERS 3u
#define DEVICE "hisi_ptt0_2" /* whose root ports are those of the examples */

/* a machine and its servers */
struct host {
	struct tally_machine_opts m;
	struct tally_machine_result result;
	struct kunpeng *k;
	uint32_t device; /* behind vfio-user */
	struct server *server[SERVERS];
	struct pollfd fd[SERVERS];
	uint32_t n;
	uint64_t then, owed; /* the clock at the last turn; ns that the machine is behind it */
	uint64_t tracing;    /* bit: that device had a trace at the last turn */
	struct machine_log log;
	struct err *e;
};
static_assert(PTT_PMU_MOST <= 64, "a bit each");

static void host_note(const struct host *h, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void host_note(const struct host *h, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note_line(h->m.note, h->m.arg, fmt, ap);
	va_end(ap);
}

/* ---- servers ------------------------------------------------------------------------------- */

static int find_device(struct host *h)
{
	const char *const name = h->m.device ? h->m.device : DEVICE;
	const char *names[PTT_PMU_MOST];
	uint32_t n = kunpeng_ndevices(h->k);

	if (h->m.device && !h->m.vfio_user)
		return err_set(h->e, TALLY_EINVAL, "--device=%s requires --vfio-user", name);
	for (uint32_t i = 0; i < n; i++) {
		names[i] = kunpeng_pmu(h->k, i)->name;
		if (!strcmp(names[i], name)) {
			h->device = i;
			return 0;
		}
	}
	return err_set(h->e, TALLY_EINVAL, "the machine has no device '%s'%s", name,
		       err_near("'", name, TEXT_NAMES(names, n)).text);
}

/* By its place: *d is only set once rc has been come to. */
static int host_add_server(struct host *h, int rc, struct server *const *d)
{
	if (rc < 0)
		return rc;
	h->server[h->n] = *d;
	h->fd[h->n++] = (struct pollfd){ .fd = (*d)->op->fd(*d), .events = POLLIN };
	return 0;
}

static int one_path(struct host *h, const char *a, const char *of_a, const char *b, const char *of_b)
{
	if (!a || !b || strcmp(a, b))
		return 0;
	return err_set(h->e, TALLY_EINVAL, "%s=%s and %s=%s are the same path: each interface needs its own", of_a, a,
		       of_b, b);
}

static int check_paths(struct host *h)
{
	int rc = one_path(h, h->m.listen, "--listen", h->m.vfio_user, "--vfio-user");

	if (rc == 0)
		rc = one_path(h, h->m.listen, "--listen", h->m.sysfs, "--sysfs");
	return rc == 0 ? one_path(h, h->m.vfio_user, "--vfio-user", h->m.sysfs, "--sysfs") : rc;
}

static int host_open_servers(struct host *h)
{
	struct server *d = NULL;
	int rc = check_paths(h);

	if (rc == 0 && h->m.vfio_user) {
		rc = host_add_server(h, server_open_vfio(&d, h->k, h->device, h->m.vfio_user, h->e), &d);
		kunpeng_give(h->k, h->device);
		if (rc == 0)
			host_note(h, "%s waits for a vfio-user client at %s", kunpeng_pmu(h->k, h->device)->name,
				  h->m.vfio_user);
	}
	if (rc == 0 && h->m.listen) {
		rc = host_add_server(h, server_open_local(&d, &local_kunpeng, h->k, h->m.listen, h->e), &d);
		if (rc == 0)
			host_note(h, "the machine listens: --on unix:%s", h->m.listen);
	}
	if (rc == 0 && h->m.sysfs) {
		rc = host_add_server(h, server_open_sysfs(&d, h->k, h->m.sysfs, h->e), &d);
		if (rc == 0)
			host_note(h, "the devices' files are in %s", h->m.sysfs);
	}
	return rc;
}

/* What a server could not remove is told in any case; it makes a run fail that went well. */
static int host_close_servers(struct host *h, int rc)
{
	while (h->n) {
		struct server *d = h->server[--h->n];
		struct err left = { 0 };
		int failed = d->op->leave ? d->op->leave(d, &left) : 0;

		if (failed < 0 && rc >= 0)
			rc = err_set(h->e, left.code, "%s", left.text);
		else if (failed < 0)
			host_note(h, "%s", left.text);
		d->op->close(d);
	}
	return rc;
}

/* ---- turns --------------------------------------------------------------------------------- */

static bool host_is_idle(const struct host *h)
{
	for (uint32_t i = 0; i < h->n; i++)
		if (h->server[i]->op->needs_time && h->server[i]->op->needs_time(h->server[i]))
			return false;
	return !h->tracing;
}

static int host_serve_clients(struct host *h)
{
	int rc = 0, ready = poll(h->fd, h->n, h->owed ? 0 : host_is_idle(h) ? IDLE_MS : TURN_MS);

	if (ready < 0 && errno != EINTR)
		return err_set(h->e, TALLY_EIO, "poll: %s", strerror(errno));
	for (uint32_t i = 0; rc == 0 && ready > 0 && i < h->n; i++)
		if (h->fd[i].revents)
			rc = h->server[i]->op->serve(h->server[i], h->e);
	return rc;
}

static int host_pass_time(struct host *h)
{
	uint64_t now = k_now_ns(), before = kunpeng_now(h->k), ns;
	int rc = 0;

	h->owed += now - h->then;
	h->then = now;
	if (host_is_idle(h))
		h->owed = 0;
	if (h->owed > OWED_NS)
		h->owed = OWED_NS;
	ns = h->owed < SLICE_NS ? h->owed : SLICE_NS;
	kunpeng_run(h->k, before + ns);
	h->owed -= kunpeng_now(h->k) - before; /* a device without room ends the run early */
	for (uint32_t i = 0; rc == 0 && i < h->n; i++)
		if (h->server[i]->op->passed)
			rc = h->server[i]->op->passed(h->server[i], h->e);
	return rc;
}

/* Says of each trace that has ended what the device counted: what its reader should have. */
static void watch_traces(struct host *h, bool leaving)
{
	for (uint32_t i = 0; i < kunpeng_ndevices(h->k); i++) {
		const uint64_t bit = UINT64_C(1) << i;
		const bool on = ptt_dev_tracing(kunpeng_device(h->k, i)) && !leaving;

		if (!on && h->tracing & bit)
			machine_log_trace(&h->log, h->then, kunpeng_pmu(h->k, i)->name,
					  ptt_dev_counts(kunpeng_device(h->k, i)));
		h->tracing = on ? h->tracing | bit : h->tracing & ~bit;
	}
	machine_log_passed(&h->log, h->then);
}

static int host_run_turns(struct host *h)
{
	int rc = 0;

	h->then = k_now_ns();
	h->log = (struct machine_log){ .note = h->m.note, .arg = h->m.arg };
	while (rc == 0 && !(h->m.stop && *h->m.stop)) {
		rc = host_serve_clients(h);
		watch_traces(h, false);
		if (rc == 0)
			rc = host_pass_time(h);
	}
	watch_traces(h, true);
	machine_log_end(&h->log);
	return rc;
}

static int run_kunpeng(struct host *h, const struct plat_on *on)
{
	int rc;

	if (h->m.run || h->m.guests)
		return err_set(h->e, TALLY_EINVAL,
			       "%s has no hypervisor: --run and --guests require a machine with one, e.g. batoka",
			       on->row->name);
	if (!h->m.listen && !h->m.vfio_user && !h->m.sysfs)
		return err_set(h->e, TALLY_EINVAL, "no interface given: add --listen, --vfio-user or --sysfs");
	rc = kunpeng_open(&h->k, &on->kunpeng, h->e);
	if (rc == 0)
		rc = find_device(h);
	if (rc == 0)
		rc = host_open_servers(h);
	if (rc == 0)
		rc = host_run_turns(h);
	rc = host_close_servers(h, rc);
	kunpeng_close(h->k);
	return rc;
}

static int host_run(struct host *h)
{
	struct plat_on on;
	int rc = plat_parse(&on, h->m.machine, h->e);

	if (rc < 0)
		return rc;
	if (on.row->is != PLAT_MODEL)
		return err_set(h->e, TALLY_EINVAL,
			       "cannot run '%s' as a machine (expected kunpeng, niagara, maramba, batoka or power)",
			       h->m.machine);
	if (h->m.opensparc)
		rc = plat_on_opensparc(&on, h->e);
	if (rc < 0)
		return rc;
	if (!hv_machine_is(&on))
		return run_kunpeng(h, &on);
	if (h->m.vfio_user || h->m.sysfs || h->m.device)
		return err_set(h->e, TALLY_EINVAL,
			       "%s has no PTT device: --vfio-user, --sysfs and --device require kunpeng", on.row->name);
	return h->m.run ? hv_machine_image(&h->m, &on, &h->result.status, h->e) : hv_machine_serve(&h->m, &on, h->e);
}

int tally_machine_run(const struct tally_machine_opts *opts, struct tally_machine_result *ret, char *words, size_t n)
{
	struct err e = { 0 };
	struct host h = { .result = { .size = sizeof(h.result) }, .e = &e };
	int rc = opts_take(&h.m, sizeof(h.m), opts) && h.m.machine ? host_run(&h) :
								     err_set(&e, TALLY_EINVAL, "unknown options");

	opts_give(ret, &h.result, sizeof(h.result));
	if (n)
		snprintf(words, n, "%s", rc < 0 ? (e.text[0] ? e.text : tally_strerror(rc)) : "");
	return rc;
}
