/*
 * machine_hv.c: a machine with a hypervisor, for guests that come through a server.
 *
 * One thread.  A turn serves who is there and then lets the machine's time follow the clock,
 * by a slice that takes SLICE_NS of ours at most: how much of the machine's time that is
 * is found by trying, since a model may be slower than what it models.  Then it falls behind:
 * what is owed is never more than OWED_NS.  A client that waits for each answer before it asks
 * again is waited for, BURST_NS long, before the next slice: else each of its calls would take one.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "attach/local_hv.h"
#include "kernel/kernel.h"
#include "platform/hv_machine_int.h"

#define MS UINT64_C(1000000)
#define TURN_NS (2 * MS) /* between two turns, when nobody is at the server */
#define SLICE_NS (MS / 5)
#define BURST_NS MS
#define LINGER_NS (MS / 20) /* what a client may take between an answer and its next question */
#define OWED_NS (20 * MS)
#define STEP_LEAST UINT64_C(100)
#define STEP_MOST (2 * MS)
#define GUESTS_MOST (64u << 10) /* bytes of a file of guests */

struct host {
	const struct tally_machine_opts *m;
	struct model *machine;
	struct local_hv_guests guests;
	struct local_hv hv;
	struct server *server;
	uint64_t then, owed; /* the clock at the last turn; ns that the machine is behind it */
	uint64_t step;       /* ns of the machine's in a slice */
	struct err *e;
};
static_assert(HV_GUESTS >= LOCAL_CLIENTS, "a guest for each client");

/* ---- turns --------------------------------------------------------------------------------- */

/* 1: somebody was served. */
static int host_serve_calls(struct host *h, uint64_t wait_ns)
{
	struct pollfd p = { .fd = h->server->op->fd(h->server), .events = POLLIN };
	const struct timespec t = { 0, (long)wait_ns };
	int ready = ppoll(&p, 1, &t, NULL), rc;

	if (ready <= 0)
		return ready < 0 && errno != EINTR ? err_set(h->e, TALLY_EIO, "ppoll: %s", strerror(errno)) : 0;
	rc = h->server->op->serve(h->server, h->e);
	return rc < 0 ? rc : 1;
}

static int serve_all(struct host *h)
{
	int rc = host_serve_calls(h, h->owed ? 0 : TURN_NS);
	const uint64_t until = rc > 0 ? k_now_ns() + BURST_NS : 0;

	while (rc > 0 && k_now_ns() < until)
		rc = host_serve_calls(h, LINGER_NS);
	return rc < 0 ? rc : 0;
}

/* The next slice takes about as long as it may. */
static void host_adapt_slice(struct host *h, uint64_t took)
{
	if (took > SLICE_NS && h->step / 2 >= STEP_LEAST)
		h->step /= 2;
	else if (took < SLICE_NS / 4 && h->step * 2 <= STEP_MOST)
		h->step *= 2;
}

static int host_pass_time(struct host *h)
{
	uint64_t now = k_now_ns(), ns;

	h->owed += now - h->then;
	h->then = now;
	if (h->owed > OWED_NS)
		h->owed = OWED_NS;
	ns = h->owed < h->step ? h->owed : h->step;
	model_advance(h->machine, ns);
	h->owed -= ns;
	if (ns == h->step)
		host_adapt_slice(h, k_now_ns() - now);
	return h->server->op->passed(h->server, h->e);
}

static int host_run_turns(struct host *h)
{
	int rc = 0;

	h->then = k_now_ns();
	h->step = STEP_LEAST;
	while (rc == 0 && !(h->m->stop && *h->m->stop)) {
		rc = serve_all(h);
		if (rc == 0)
			rc = host_pass_time(h);
	}
	return rc;
}

/* ---- a run ------------------------------------------------------------------------------------ */

static int read_guests(struct host *h, const struct model_opts *o)
{
	uint8_t *text = NULL;
	size_t n = 0;
	int rc = 0;

	if (h->m->guests && !h->machine->kind)
		return err_set(h->e, TALLY_EINVAL,
			       "--guests requires a sun4v machine; the rights of POWER partitions are set by config=");
	if (h->m->guests)
		rc = file_read_all(h->m->guests, GUESTS_MOST, &text, &n, h->e);
	if (rc >= 0 && h->machine->kind)
		rc = local_hv_guests_parse(&h->guests, (const char *)text, n, h->machine->strands, h->e);
	if (rc >= 0 && o->rights_given)
		h->guests.others = o->sun4v;
	mem_free(text);
	return rc;
}

static int open_server(struct host *h, const struct model_opts *o)
{
	const struct model *m = h->machine;
	int rc = read_guests(h, o);

	if (rc < 0)
		return rc;
	h->hv = (struct local_hv){
		m->kind, m->niagara, m->sun4v, &h->guests, m->power, m->papr, model_now, h->machine
	};
	rc = server_open_local(&h->server, local_hv_service(m->name), &h->hv, h->m->listen, h->e);
	if (rc == 0) {
		struct buf b = { 0 };

		buf_printf(&b, "the machine listens: --on unix:%s\n", h->m->listen);
		if (h->m->note && !b.failed)
			(void)h->m->note(h->m->arg, b.p, b.n);
		buf_free(&b);
	}
	return rc;
}

int hv_machine_serve(const struct tally_machine_opts *m, const struct plat_on *on, struct err *e)
{
	struct host h = { .m = m, .e = e };
	int rc;

	if (!m->listen)
		return err_set(e, TALLY_EINVAL, "no interface given: add --listen, or --run for an image");
	rc = hv_machine_open(&h.machine, on, false, e);
	if (rc == 0)
		rc = open_server(&h, &on->hv);
	if (rc == 0)
		rc = host_run_turns(&h);
	if (h.server)
		h.server->op->close(h.server);
	local_hv_guests_free(&h.guests);
	model_close(h.machine);
	return rc;
}
