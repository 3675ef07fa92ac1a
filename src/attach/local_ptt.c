/*
 * local_ptt.c: PTT devices of a machine, as a service of the local protocol.
 *
 * Each device is in the hands of at most one client: who starts a trace owns the device
 * until the last piece of that trace was taken, another one is started in
 * its place, or the client is gone.  Registers are read by everybody; tuning belongs to nobody, as with the genuine
 * device, where a trace and a tunable don't touch one another.
 *
 * Two drivers look at a device.  One is for tuning and can't reach the trace's
 * registers, so it never disturbs who traces; the other lives as long as a trace.
 * The memory that the device writes to is taken for its first trace and kept.
 *
 * The machine's time doesn't wait for a client: an interrupt is answered at once,
 * inside the machine's run, and what finds no room in the AUX rings is lost
 * and counted by the driver.  A full ring only asks the run to return early once, so that
 * the server may send before more comes.
 */
#include <string.h>

#include "attach/local.h"
#include "ptt/driver.h"
#include "ptt/rule.h"

#define MEMORY_BYTES ((size_t)PTT_BUFFERS * PTT_BUFFER_BYTES)
#define BUS_BASE 0x100000000u /* where the device sees the memory of a trace */

struct device {
	struct kunpeng *machine;
	struct ptt_dev *dev;
	struct ptt_driver *tuner;
	uint8_t *memory; /* NULL: it has never traced */
	/* a trace; owner NULL: there is none */
	const struct local_peer *owner;
	struct ptt_driver *driver;
	bool stopped;
	struct err broken; /* an interrupt could not be answered: told to who asks for the next piece */
	uint32_t nwaiting;
	uint64_t waiting[LOCAL_PENDING_MOST]; /* ids of PTT_NEXT, the oldest first */
	bool sending;
	struct ptt_aux aux; /* what is being sent; without bytes it tells of a loss, and is a piece all the same */
	size_t sent;        /* of it */
};
struct ptt_service {
	struct kunpeng *k;
	uint32_t n;
	struct device device[PTT_PMU_MOST];
};

/* ---- registers and memory -------------------------------------------------------------------------- */

static int reg_read(void *arg, uint32_t off, uint32_t *value, struct err *e)
{
	const struct device *d = arg;

	(void)e;
	*value = ptt_dev_read(d->dev, off);
	return 0;
}

static int reg_write(void *arg, uint32_t off, uint32_t value, struct err *e)
{
	const struct device *d = arg;

	(void)e;
	ptt_dev_write(d->dev, off, value);
	return 0;
}

static bool is_tuning(uint32_t off)
{
	return off == PTT_REG_TUNING_CTRL || off == PTT_REG_TUNING_DATA;
}

/* The trace's registers may be somebody else's. */
static int tuner_write(void *arg, uint32_t off, uint32_t value, struct err *e)
{
	return is_tuning(off) ? reg_write(arg, off, value, e) : 0;
}

static int local_ptt_dma(void *arg, uint64_t to, const void *p, size_t n)
{
	const struct device *d = arg;
	const uint64_t at = to - BUS_BASE;

	if (to < BUS_BASE || at > MEMORY_BYTES || n > MEMORY_BYTES - at)
		return -TALLY_EINVAL;
	memcpy(d->memory + at, p, n);
	return 0;
}

static void local_ptt_irq(void *arg)
{
	struct device *d = arg;

	if (!d->driver || d->broken.code)
		return;
	ptt_driver_interrupt(d->driver, &d->broken);
	if (!ptt_driver_has_room(d->driver))
		kunpeng_pause(d->machine);
}

/* ---- the life of a trace --------------------------------------------------------------------------- */

static void trace_end(struct device *d)
{
	if (!d->owner)
		return;
	ptt_driver_close(d->driver);
	ptt_dev_host(d->dev, NULL);
	d->owner = NULL;
	d->driver = NULL;
	d->stopped = false;
	d->broken.code = 0;
	d->nwaiting = 0;
	d->sending = false;
}

static int trace_begin(struct device *d, const struct local_peer *owner, const struct ptt_ask *ask, size_t ring,
		       struct err *e)
{
	const struct ptt_regs regs = { d, reg_read, reg_write, NULL };
	const struct ptt_host host = { d, local_ptt_dma, local_ptt_irq };
	int rc;

	if (!d->memory && (d->memory = mem_alloc(MEMORY_BYTES)) == NULL)
		return err_oom(e);
	d->owner = owner;
	ptt_dev_host(d->dev, &host);
	rc = ptt_driver_open(&d->driver, &regs, d->memory, BUS_BASE, e);
	if (rc == 0)
		rc = ptt_driver_start(d->driver, ask, ring, e);
	if (rc < 0)
		trace_end(d);
	return rc;
}

/* Who waited longest has an answer, and waits no more. */
static void waiting_drop_first(struct device *d)
{
	memmove(d->waiting, d->waiting + 1, --d->nwaiting * sizeof(d->waiting[0]));
}

/* False: there is no room for it. */
static bool send_piece(struct device *d, struct local_peer *p)
{
	const size_t left = d->aux.n - d->sent;
	const uint32_t n = left < LOCAL_PIECE_MOST ? (uint32_t)left : LOCAL_PIECE_MOST;
	const struct local_piece piece = { d->aux.n, d->sent, d->aux.lost, d->aux.flags & PTT_AUX_TRUNCATED, 0 };
	uint8_t *to = local_reply(p, LOCAL_PTT_NEXT, d->waiting[0], (uint32_t)sizeof(piece) + n);

	static_assert(LOCAL_PIECE_TRUNCATED == PTT_AUX_TRUNCATED, "protocol.md 4.6");
	if (!to)
		return false;
	memcpy(to, &piece, sizeof(piece));
	if (n)
		memcpy(to + sizeof(piece), d->aux.p + d->sent, n);
	d->sent += n;
	d->sending = d->sent < d->aux.n;
	waiting_drop_first(d);
	return true;
}

static bool send_end(struct device *d, struct local_peer *p)
{
	const struct local_piece piece = { .flags = LOCAL_PIECE_END };
	uint8_t *to;

	if (d->broken.code)
		return local_reply_error(p, LOCAL_PTT_NEXT, d->waiting[0], &d->broken);
	to = local_reply(p, LOCAL_PTT_NEXT, d->waiting[0], sizeof(piece));
	if (to)
		memcpy(to, &piece, sizeof(piece));
	return to;
}

static void trace_pump(struct device *d, struct local_peer *p)
{
	while (d->nwaiting) {
		if (!d->sending) {
			d->sending = !d->broken.code && ptt_driver_take(d->driver, &d->aux) > 0;
			d->sent = 0;
		}
		if (!d->sending) {
			if (d->stopped || d->broken.code) {
				/* All who wait hear that it is over, or why it can't go on; then the device is free. */
				while (d->nwaiting && send_end(d, p))
					waiting_drop_first(d);
				if (!d->nwaiting)
					trace_end(d);
			}
			return;
		}
		if (!send_piece(d, p))
			return;
	}
}

/* ---- operations -------------------------------------------------------------------------------------- */

/* The device that a request names; it is a request's first field. */
static struct device *device_of(struct local_call *c)
{
	struct ptt_service *s = c->service;
	uint32_t i;

	memcpy(&i, c->in, sizeof(i));
	if (i < s->n)
		return &s->device[i];
	err_set(c->e, TALLY_EINVAL, "there is no device %u; there are %u, from 0", i, s->n);
	return NULL;
}

static const struct ptt_pmu *pmu_of(const struct ptt_service *s, const struct device *d)
{
	return kunpeng_pmu(s->k, (uint32_t)(d - s->device));
}

static int run_PTT_LIST(struct local_call *c)
{
	const struct ptt_service *s = c->service;
	const struct local_devices head = { s->n, kunpeng_generation(s->k) };

	memcpy(c->out, &head, sizeof(head));
	c->nout = sizeof(head);
	for (uint32_t i = 0; i < s->n; i++) {
		const struct ptt_pmu *pmu = kunpeng_pmu(s->k, i);
		struct local_pmu to = { .type = pmu->type, .nfilters = pmu->nfilters };

		static_assert(sizeof(to.name) == sizeof(pmu->name), "protocol.md 4.1");
		static_assert(sizeof(to.cpus) == sizeof(pmu->cpus), "protocol.md 4.1");
		memcpy(to.name, pmu->name, sizeof(to.name));
		memcpy(to.cpus, pmu->cpus, sizeof(to.cpus));
		memcpy(c->out + c->nout, &to, sizeof(to));
		c->nout += sizeof(to);
	}
	return 0;
}

static int run_PTT_FILTERS(struct local_call *c)
{
	const struct ptt_service *s = c->service;
	const struct device *d = device_of(c);
	const struct ptt_pmu *pmu = d ? pmu_of(s, d) : NULL;
	struct local_filters head;
	struct local_from ask;

	if (!d)
		return -TALLY_EINVAL;
	memcpy(&ask, c->in, sizeof(ask));
	head = (struct local_filters){ kunpeng_generation(s->k), pmu->nfilters, ask.from, 0 };
	if (ask.from < pmu->nfilters)
		head.n = pmu->nfilters - ask.from < LOCAL_FILTERS_MOST ? pmu->nfilters - ask.from : LOCAL_FILTERS_MOST;
	memcpy(c->out, &head, sizeof(head));
	c->nout = sizeof(head);
	for (uint32_t i = 0; i < head.n; i++) {
		const struct ptt_filter *from = &pmu->filter[ask.from + i];
		struct local_filter to = { .value = from->value, .port = from->port };

		static_assert(sizeof(to.name) == sizeof(from->name), "protocol.md 4.2");
		memcpy(to.name, from->name, sizeof(to.name));
		memcpy(c->out + c->nout, &to, sizeof(to));
		c->nout += sizeof(to);
	}
	return 0;
}

/* Whether it is out of reach, with words. */
static bool local_ptt_given_away(struct local_call *c, const struct device *d)
{
	const struct ptt_service *s = c->service;
	const bool is = kunpeng_given(s->k, (uint32_t)(d - s->device));

	if (is)
		err_set(c->e, TALLY_EBUSY,
			"%s is in use by a vfio-user client, whose driver has its registers; name another "
			"device",
			pmu_of(s, d)->name);
	return is;
}

static int value_reply(struct local_call *c, uint32_t value)
{
	const struct local_value v = { .value = value };

	memcpy(c->out, &v, sizeof(v));
	c->nout = sizeof(v);
	return 0;
}

static int run_PTT_READ(struct local_call *c)
{
	const struct device *d = device_of(c);
	struct local_register r;

	if (!d)
		return -TALLY_EINVAL;
	memcpy(&r, c->in, sizeof(r));
	return value_reply(c, ptt_dev_read(d->dev, r.at));
}

static int run_PTT_WRITE(struct local_call *c)
{
	const struct device *d = device_of(c);
	struct local_assign a;

	if (!d)
		return -TALLY_EINVAL;
	if (local_ptt_given_away(c, d))
		return -TALLY_EBUSY;
	memcpy(&a, c->in, sizeof(a));
	if (!is_tuning(a.at))
		return err_set(
			c->e, TALLY_EPERM,
			"register 0x%x belongs to the driver; only the tune registers 0x0 and 0x4 can be written",
			a.at);
	ptt_dev_write(d->dev, a.at, a.value);
	return 0;
}

static int tunable_of(struct local_call *c, uint32_t code, enum ptt_tune *ret)
{
	for (int t = 0; t < PTT_TUNES; t++)
		if (ptt_tunables[t].code == code)
			return *ret = (enum ptt_tune)t, 0;
	return err_set(c->e, TALLY_EINVAL, "unknown tunable code 0x%x", code);
}

static int run_PTT_TUNE_GET(struct local_call *c)
{
	const struct device *d = device_of(c);
	struct local_register r;
	enum ptt_tune t = 0;
	uint32_t value = 0;
	int rc;

	if (!d)
		return -TALLY_EINVAL;
	if (local_ptt_given_away(c, d))
		return -TALLY_EBUSY;
	memcpy(&r, c->in, sizeof(r));
	rc = tunable_of(c, r.at, &t);
	if (rc == 0)
		rc = ptt_driver_tune_get(d->tuner, t, &value, c->e);
	return rc < 0 ? rc : value_reply(c, value);
}

static int run_PTT_TUNE_SET(struct local_call *c)
{
	const struct device *d = device_of(c);
	struct local_assign a;
	enum ptt_tune t = 0;
	int rc;

	if (!d)
		return -TALLY_EINVAL;
	if (local_ptt_given_away(c, d))
		return -TALLY_EBUSY;
	memcpy(&a, c->in, sizeof(a));
	rc = tunable_of(c, a.at, &t);
	return rc < 0 ? rc : ptt_driver_tune_set(d->tuner, t, a.value, c->e);
}

/* Whether a client may start a trace. What it stopped and did not read to the end makes room. */
static int device_free(struct local_call *c, struct device *d, const struct ptt_pmu *pmu)
{
	if (local_ptt_given_away(c, d))
		return -TALLY_EBUSY;
	if (d->owner == c->peer && (d->stopped || d->broken.code) && d->nwaiting == 0)
		trace_end(d);
	if (d->owner)
		return err_set(c->e, TALLY_EBUSY, "%s: %s trace is running; a device runs one at a time", pmu->name,
			       d->owner == c->peer ? "this client's" : "another client's");
	if (ptt_dev_hosted(d->dev))
		return err_set(c->e, TALLY_EBUSY, "%s is in use by a driver through another server", pmu->name);
	return 0;
}

static int run_PTT_START(struct local_call *c)
{
	struct device *d = device_of(c);
	const struct ptt_pmu *pmu = d ? pmu_of(c->service, d) : NULL;
	struct local_start ask;
	struct ptt_ask ev = { 0 };
	int rc;

	if (!d)
		return -TALLY_EINVAL;
	memcpy(&ask, c->in, sizeof(ask));
	if (ask.ring == 0 || ask.ring % PTT_BUFFER_BYTES || ask.ring > LOCAL_RING_MOST)
		return err_set(c->e, TALLY_EINVAL,
			       "invalid AUX buffer size of %llu bytes (expected a multiple of 4 MiB, %u MiB "
			       "at most)",
			       (unsigned long long)ask.ring, LOCAL_RING_MOST >> 20);
	static_assert(sizeof(ev.device) == sizeof(pmu->name), "a name fits");
	memcpy(ev.device, pmu->name, sizeof(ev.device));
	ptt_ask_of_config(&ev, ask.config);
	rc = ptt_ask_check(&ev, pmu, PTT_PROFILE_DRIVER, c->e, NULL);
	if (rc == 0)
		rc = device_free(c, d, pmu);
	return rc < 0 ? rc : trace_begin(d, c->peer, &ev, (size_t)ask.ring, c->e);
}

static struct device *own_device(struct local_call *c)
{
	struct device *d = device_of(c);

	if (!d || d->owner == c->peer)
		return d;
	err_set(c->e, TALLY_ESTATE, "this client runs no trace on that device; PTT_START starts one");
	return NULL;
}

static int run_PTT_NEXT(struct local_call *c)
{
	struct device *d = own_device(c);

	if (!d)
		return -c->e->code;
	if (d->nwaiting == LOCAL_PENDING_MOST)
		return err_set(c->e, TALLY_EBUSY, "%u PTT_NEXT requests are already pending", LOCAL_PENDING_MOST);
	d->waiting[d->nwaiting++] = c->id;
	return LOCAL_LATER;
}

static int run_PTT_STOP(struct local_call *c)
{
	struct device *d = own_device(c);

	if (!d)
		return -c->e->code;
	if (d->stopped)
		return err_set(c->e, TALLY_ESTATE, "the trace is already stopped");
	d->stopped = true;
	return ptt_driver_stop(d->driver, c->e);
}

static int run_PTT_PLUG(struct local_call *c)
{
	const struct ptt_service *s = c->service;
	struct local_plug plug;

	memcpy(&plug, c->in, sizeof(plug));
	if (memchr(plug.bdf, '\0', sizeof(plug.bdf)) == NULL)
		return err_set(c->e, TALLY_EINVAL, "place without a NUL (15 bytes at most)");
	if (plug.there > 1)
		return err_set(c->e, TALLY_EINVAL, "invalid value %u for there (expected 0 or 1)", plug.there);
	return kunpeng_plug(s->k, plug.bdf, plug.there, c->e);
}

static int run_PTT_COUNTS(struct local_call *c)
{
	const struct ptt_service *s = c->service;
	const struct device *d = device_of(c);
	const struct ptt_dev_counts *from = d ? ptt_dev_counts(d->dev) : NULL;
	struct local_counts to;

	if (!d)
		return -TALLY_EINVAL;
	to = (struct local_counts){ kunpeng_now(s->k),      from->seen,       from->recorded,
				    from->filtered,         from->lost,       from->dma_errors,
				    from->buffers,          from->interrupts, kunpeng_generation(s->k),
				    ptt_dev_tracing(d->dev) };
	memcpy(c->out, &to, sizeof(to));
	c->nout = sizeof(to);
	return 0;
}

static int run_PTT_LINK(struct local_call *c)
{
	const struct ptt_service *s = c->service;
	const struct device *d = device_of(c);
	struct local_link to;
	struct ptt_link is;

	if (!d)
		return -TALLY_EINVAL;
	kunpeng_link(s->k, (uint32_t)(d - s->device), &is);
	static_assert(sizeof(to) == sizeof(is), "protocol.md 4.10");
	to.now_ns = is.ns;
	memcpy(to.tlps, is.tlps, sizeof(to.tlps));
	memcpy(to.bytes, is.bytes, sizeof(to.bytes));
	memcpy(c->out, &to, sizeof(to));
	c->nout = sizeof(to);
	return 0;
}

/* ---- the service ------------------------------------------------------------------------------------- */

static void service_close(void *service)
{
	struct ptt_service *s = service;

	for (uint32_t i = 0; i < s->n; i++) {
		trace_end(&s->device[i]);
		ptt_driver_close(s->device[i].tuner);
		mem_free(s->device[i].memory);
	}
	mem_free(s);
}

static int service_open(void **ret, void *platform, struct err *e)
{
	struct ptt_service *s = mem_alloc(sizeof(*s));
	int rc = 0;

	if (!s)
		return err_oom(e);
	s->k = platform;
	s->n = kunpeng_ndevices(s->k);
	s->n = s->n < PTT_PMU_MOST ? s->n : PTT_PMU_MOST;
	for (uint32_t i = 0; rc == 0 && i < s->n; i++) {
		struct device *d = &s->device[i];
		const struct ptt_regs regs = { d, reg_read, tuner_write, NULL };

		d->machine = s->k;
		d->dev = kunpeng_device(s->k, i);
		rc = ptt_driver_open(&d->tuner, &regs, NULL, 0, e);
	}
	if (rc < 0)
		service_close(s);
	else
		*ret = s;
	return rc;
}

static void service_pump(void *service, struct local_peer *p)
{
	struct ptt_service *s = service;

	for (uint32_t i = 0; i < s->n; i++)
		if (s->device[i].owner == p)
			trace_pump(&s->device[i], p);
}

static void service_client_gone(void *service, struct local_peer *p)
{
	struct ptt_service *s = service;

	for (uint32_t i = 0; i < s->n; i++)
		if (s->device[i].owner == p)
			trace_end(&s->device[i]);
}

static const struct local_row rows[] = {
#define X(name, number, right, request, reply, more) \
	[(number)-LOCAL_PTT_FIRST] = { (right), sizeof(request), sizeof(reply) + (more), run_##name },
	LOCAL_PTT_OPS(X)
#undef X
};

const struct local_service local_kunpeng = {
	.platform = "kunpeng",
	.first = LOCAL_PTT_FIRST,
	.nrows = COUNT(rows),
	.row = rows,
	.open = service_open,
	.close = service_close,
	.pump = service_pump,
	.gone = service_client_gone,
};
