/*
 * driver.c: tally's own driver of a PTT device.
 *
 * Registers are touched in the order of the Linux driver:
 *
 *	open       W TRACE_ADDR_BASE_LO_0, HI_0, ... HI_3; W TRACE_ADDR_SIZE; R DEVICE_RANGE; R LOCATION
 *	tune       R TUNING_CTRL; W it with the code; W TUNING_DATA; R TUNING_INT_STAT until 0; (get) R TUNING_DATA
 *	start      R TRACE_STS; R, W TRACE_CTRL with RST; R TRACE_WR_STS until 0; R, W TRACE_CTRL without;
 *	           W TRACE_INT_STAT all; W TRACE_INT_MASK 0; W TRACE_CTRL with EN
 *	interrupt  R TRACE_INT_STAT; W it
 *	stop       W TRACE_CTRL 0; W TRACE_INT_MASK all; R TRACE_STS until idle; R TRACE_INT_STAT; R TRACE_WR_STS
 *
 * The R TRACE_INT_STAT of stop is ours: a buffer may be finished and not yet
 * told.  All that is pending is copied, in the order of the ring, before its
 * bits are cleared: the Linux driver copies one, and clears first.
 *
 * The one idea: bytes are copied to where there is room, or not at all.  Two AUX rings
 * of one size: one is filled, the other is being read or free.  A ring that does not take
 * another whole buffer is committed.  When the other one is then still with the reader, buffers are
 * dropped as they finish, their records counted, and the next commit says so.  What the
 * device has when it is stopped stays in the DMA buffers if there is no room: the
 * device is idle, so the reader is given that memory itself.
 *
 * What the device says is not trusted: it may be behind a socket.  WRITE is
 * clamped to a buffer, polls end, and a device that reads as all ones is gone.
 */
#include <string.h>

#include "ptt/device_int.h"
#include "ptt/driver.h"
#include "ptt/rule.h"

enum {
	TUNE_PAUSE_US = 10,
	TUNE_POLLS = 100000,
	IDLE_PAUSE_US = 10,
	IDLE_POLLS = 10,
	RESET_PAUSE_US = 1,
	RESET_POLLS = 10,
	RINGS = 2
};

/* Bytes for the reader, in the order in which they are taken. */
struct ring {
	uint8_t *p;
	size_t n;
	uint64_t lost; /* records before the first byte */
	bool truncated;
};
/* left in DMA memory */
struct rest {
	uint32_t buffer, n;
};

struct ptt_driver {
	/* set by ptt_driver_open(), then read-only */
	struct ptt_regs regs;
	uint8_t *memory;
	uint32_t range;
	/* the trace */
	bool tracing;
	uint32_t next;   /* the buffer that is finished next */
	uint32_t record; /* bytes */
	/* the rings: `committed` of them from `oldest` on are the reader's, the first of these is `lent` or still to be
	 * taken; the one after them is filled, unless all are committed */
	struct ring ring[RINGS];
	size_t size;
	uint32_t oldest, committed;
	bool lent;
	uint64_t lost; /* records, not yet told */
	bool truncated;
	struct rest rest[PTT_BUFFERS];
	uint32_t nrest, rest_taken;
};

/* ---- registers -------------------------------------------------------------------------------- */

static int driver_get_register(struct ptt_driver *d, uint32_t off, uint32_t *value, struct err *e)
{
	return d->regs.read(d->regs.arg, off, value, e);
}

static int driver_set_register(struct ptt_driver *d, uint32_t off, uint32_t value, struct err *e)
{
	return d->regs.write(d->regs.arg, off, value, e);
}

/* Sets some bits of a register to `value` and leaves the others. */
static int set_bits(struct ptt_driver *d, uint32_t off, uint32_t bits, uint32_t value, struct err *e)
{
	uint32_t old;
	int rc = driver_get_register(d, off, &old, e);

	return rc < 0 ? rc : driver_set_register(d, off, (old & ~bits) | value, e);
}

struct poll {
	uint32_t off, mask, want;
	int times;
	uint32_t pause_us;
};

/* 1: it became so; 0: it did not, in all that time. */
static int driver_poll_register(struct ptt_driver *d, const struct poll *p, struct err *e)
{
	for (int i = 0; i < p->times; i++) {
		uint32_t v;
		int rc = driver_get_register(d, p->off, &v, e);

		if (rc < 0)
			return rc;
		if ((v & p->mask) == p->want)
			return 1;
		if (d->regs.pause)
			d->regs.pause(d->regs.arg, p->pause_us);
	}
	return 0;
}

/* ---- tuning ------------------------------------------------------------------------------------- */

static int driver_tune(struct ptt_driver *d, enum ptt_tune t, uint32_t data, struct err *e)
{
	const struct poll idle = { PTT_REG_TUNING_INT_STAT, 1, 0, TUNE_POLLS, TUNE_PAUSE_US };
	int rc;

	if ((rc = set_bits(d, PTT_REG_TUNING_CTRL, PTT_TUNE_CODE, ptt_tunables[t].code, e)) < 0 ||
	    (rc = driver_set_register(d, PTT_REG_TUNING_DATA, data, e)) < 0 ||
	    (rc = driver_poll_register(d, &idle, e)) < 0)
		return rc;
	return rc > 0 ? 0 :
			err_set(e, TALLY_EBUSY, "%s: the device was still busy after a second; try again",
				ptt_tunables[t].name);
}

int ptt_driver_tune_get(struct ptt_driver *d, enum ptt_tune t, uint32_t *value, struct err *e)
{
	uint32_t v = 0;
	int rc;

	if ((rc = driver_tune(d, t, PTT_TUNE_READ, e)) < 0 ||
	    (rc = driver_get_register(d, PTT_REG_TUNING_DATA, &v, e)) < 0)
		return rc;
	*value = v & 0xffff;
	return 0;
}

int ptt_driver_tune_set(struct ptt_driver *d, enum ptt_tune t, uint32_t value, struct err *e)
{
	if (value > UINT16_MAX)
		return err_set(e, TALLY_EINVAL, "%s: %u is above 65535 (expected 0, 1 or 2)", ptt_tunables[t].name,
			       value);
	return driver_tune(d, t, value, e);
}

/* ---- rings -------------------------------------------------------------------------------------- */

/* The ring that is filled; NULL: all are committed. */
static struct ring *driver_filling_ring(struct ptt_driver *d)
{
	return d->committed < RINGS ? &d->ring[(d->oldest + d->committed) % RINGS] : NULL;
}

static void driver_commit_ring(struct ptt_driver *d)
{
	const struct ring *r = driver_filling_ring(d);

	if (r && r->n)
		d->committed++;
}

/* Bytes are lost only while all rings are committed: the next ones start a ring, which tells of it. */
static void driver_lose_bytes(struct ptt_driver *d, uint32_t n)
{
	d->lost += n / d->record;
	d->truncated = true;
}

static void driver_report_loss(struct ptt_driver *d, struct ring *r)
{
	if (!d->truncated)
		return;
	r->lost += d->lost;
	r->truncated = true;
	d->lost = 0;
	d->truncated = false;
}

/* False: there is no room for them. */
static bool driver_append_bytes(struct ptt_driver *d, uint32_t buffer, uint32_t n)
{
	struct ring *r = driver_filling_ring(d);

	if (!r || d->size - r->n < n)
		return false;
	driver_report_loss(d, r);
	memcpy(r->p + r->n, d->memory + (size_t)buffer * PTT_BUFFER_BYTES, n);
	r->n += n;
	if (d->size - r->n < PTT_BUFFER_BYTES)
		driver_commit_ring(d);
	return true;
}

static void rings_free(struct ring ring[static RINGS])
{
	for (int i = 0; i < RINGS; i++)
		mem_free(ring[i].p);
}

static int rings_make(struct ring ring[static RINGS], size_t size, struct err *e)
{
	for (int i = 0; i < RINGS; i++) {
		ring[i] = (struct ring){ .p = mem_alloc(size) };
		if (ring[i].p)
			continue;
		while (i > 0)
			mem_free(ring[--i].p);
		return err_set(e, TALLY_ENOMEM, "out of memory for two AUX rings of %zu bytes: use a smaller -m", size);
	}
	return 0;
}

/* What nobody took of the trace before is lost, and told. */
static void driver_forget_trace(struct ptt_driver *d)
{
	for (uint32_t i = d->lent; i < d->committed; i++) {
		const struct ring *r = &d->ring[(d->oldest + i) % RINGS];

		d->lost += r->lost + r->n / d->record;
		d->truncated = true;
	}
	for (; d->rest_taken < d->nrest; d->rest_taken++)
		driver_lose_bytes(d, d->rest[d->rest_taken].n);
	d->nrest = d->rest_taken = 0;
}

/* Empty rings: those of the trace before, or new ones of another size. */
static void rings_set(struct ptt_driver *d, const struct ring *fresh, size_t size)
{
	driver_forget_trace(d);
	if (fresh)
		rings_free(d->ring);
	for (int i = 0; i < RINGS; i++)
		d->ring[i] = (struct ring){ .p = fresh ? fresh[i].p : d->ring[i].p };
	d->size = size;
	d->oldest = d->committed = 0;
	d->lent = false;
}

/* ---- the trace ---------------------------------------------------------------------------------- */

static int driver_reset_device(struct ptt_driver *d, struct err *e)
{
	const struct poll empty = { PTT_REG_TRACE_WR_STS, UINT32_MAX, 0, RESET_POLLS, RESET_PAUSE_US };
	int rc = set_bits(d, PTT_REG_TRACE_CTRL, PTT_CTRL_RST, PTT_CTRL_RST, e), reached;

	if (rc < 0 || (reached = driver_poll_register(d, &empty, e)) < 0 ||
	    (rc = set_bits(d, PTT_REG_TRACE_CTRL, PTT_CTRL_RST, 0, e)) < 0)
		return rc < 0 ? rc : reached;
	return reached ? 0 : err_set(e, TALLY_EBUSY, "the device does not reset its trace; try again");
}

static int check_start(struct ptt_driver *d, size_t ring, struct err *e)
{
	uint32_t idle;
	int rc;

	if (d->tracing)
		return err_set(e, TALLY_EBUSY, "a trace of this device is already running: it runs one at a time");
	if (ring == 0 || ring % PTT_BUFFER_BYTES)
		return err_set(e, TALLY_EINVAL, "an AUX ring of %zu bytes is not a multiple of 4 MiB", ring);
	rc = driver_get_register(d, PTT_REG_TRACE_STS, &idle, e);
	if (rc < 0)
		return rc;
	return idle & 1 ? 0 : err_set(e, TALLY_EBUSY, "the device is busy: another program traces with it");
}

static int driver_enable_trace(struct ptt_driver *d, uint32_t ctrl, struct err *e)
{
	int rc;

	d->next = 0;
	d->record = ctrl & PTT_CTRL_8DW ? 4 * PTT_8DW : 4 * PTT_4DW;
	d->tracing = true; /* before EN: the first interrupt may come within it */
	if ((rc = driver_set_register(d, PTT_REG_TRACE_INT_STAT, PTT_PENDING, e)) < 0 ||
	    (rc = driver_set_register(d, PTT_REG_TRACE_INT_MASK, 0, e)) < 0 ||
	    (rc = driver_set_register(d, PTT_REG_TRACE_CTRL, ctrl | PTT_CTRL_EN, e)) < 0)
		d->tracing = false;
	return rc < 0 ? rc : 0;
}

int ptt_driver_start(struct ptt_driver *d, const struct ptt_ask *ev, size_t ring, struct err *e)
{
	struct ring fresh[RINGS];
	int rc = check_start(d, ring, e);

	if (rc < 0 || (ring != d->size && (rc = rings_make(fresh, ring, e)) < 0))
		return rc;
	rc = driver_reset_device(d, e);
	if (rc < 0) {
		if (ring != d->size)
			rings_free(fresh);
		return rc;
	}
	rings_set(d, ring != d->size ? fresh : NULL, ring);
	return driver_enable_trace(d, ptt_ask_ctrl(ev), e);
}

/* The finished buffers in the order in which the device filled them; each goes to `each`. */
static void driver_finished_buffers(struct ptt_driver *d, uint32_t pending,
				    void (*each)(struct ptt_driver *d, uint32_t buffer, uint32_t n))
{
	const uint32_t first = d->next;

	for (uint32_t i = 0; i < PTT_BUFFERS; i++) {
		const uint32_t buffer = (first + i) % PTT_BUFFERS;

		if ((pending >> buffer & 1) == 0)
			continue;
		each(d, buffer, PTT_BUFFER_BYTES);
		d->next = (buffer + 1) % PTT_BUFFERS;
	}
}

static void copy_or_lose(struct ptt_driver *d, uint32_t buffer, uint32_t n)
{
	if (!driver_append_bytes(d, buffer, n))
		driver_lose_bytes(d, n);
}

int ptt_driver_interrupt(struct ptt_driver *d, struct err *e)
{
	uint32_t pending;
	int rc;

	if (!d->tracing)
		return 0;
	if ((rc = driver_get_register(d, PTT_REG_TRACE_INT_STAT, &pending, e)) < 0)
		return rc;
	pending &= PTT_PENDING;
	if (pending == 0)
		return 0;
	driver_finished_buffers(d, pending, copy_or_lose);
	return driver_set_register(d, PTT_REG_TRACE_INT_STAT, pending, e);
}

/* Once one stays in DMA memory all behind it do, or the order were lost. */
static void copy_or_leave(struct ptt_driver *d, uint32_t buffer, uint32_t n)
{
	if (n == 0 || (d->nrest == 0 && driver_append_bytes(d, buffer, n)))
		return;
	if (d->nrest < PTT_BUFFERS)
		d->rest[d->nrest++] = (struct rest){ buffer, n };
}

static int driver_collect_buffers(struct ptt_driver *d, struct err *e)
{
	uint32_t pending, sts, n;
	int rc;

	if ((rc = driver_get_register(d, PTT_REG_TRACE_INT_STAT, &pending, e)) < 0)
		return rc;
	driver_finished_buffers(d, pending, copy_or_leave);
	if ((pending & PTT_PENDING) == PTT_PENDING)
		return 0; /* there was no buffer for more */
	if ((rc = driver_get_register(d, PTT_REG_TRACE_WR_STS, &sts, e)) < 0)
		return rc;
	n = sts & PTT_WR_BYTES;
	copy_or_leave(d, d->next, n < PTT_BUFFER_BYTES ? n : PTT_BUFFER_BYTES);
	return 0;
}

int ptt_driver_stop(struct ptt_driver *d, struct err *e)
{
	const struct poll idle = { PTT_REG_TRACE_STS, 1, 1, IDLE_POLLS, IDLE_PAUSE_US };
	int rc, reached = 0;

	if (!d->tracing)
		return 0;
	d->tracing = false;
	if ((rc = driver_set_register(d, PTT_REG_TRACE_CTRL, 0, e)) >= 0 &&
	    (rc = driver_set_register(d, PTT_REG_TRACE_INT_MASK, PTT_PENDING, e)) >= 0 &&
	    (rc = reached = driver_poll_register(d, &idle, e)) >= 0)
		rc = driver_collect_buffers(d, e);
	driver_commit_ring(d);
	if (rc < 0)
		return rc;
	return reached ? 0 :
			 err_set(e, TALLY_EBUSY,
				 "the device was not idle after it was stopped: the end of the trace "
				 "may be damaged");
}

/* ---- the reader --------------------------------------------------------------------------------- */

static void driver_release_rings(struct ptt_driver *d)
{
	if (!d->lent)
		return;
	d->ring[d->oldest] = (struct ring){ .p = d->ring[d->oldest].p };
	d->oldest = (d->oldest + 1) % RINGS;
	d->committed--;
	d->lent = false;
}

/* Behind the rings: what stayed in DMA memory; and loss that no bytes came after. */
static int take_rest(struct ptt_driver *d, struct ptt_aux *a)
{
	const struct rest *r = d->rest_taken < d->nrest ? &d->rest[d->rest_taken++] : NULL;

	if (!r && (d->tracing || !d->truncated))
		return 0;
	*a = (struct ptt_aux){ d->memory + (r ? (size_t)r->buffer * PTT_BUFFER_BYTES : 0), r ? r->n : 0,
			       d->truncated ? PTT_AUX_TRUNCATED : 0, d->lost };
	d->truncated = false;
	d->lost = 0;
	return 1;
}

int ptt_driver_take(struct ptt_driver *d, struct ptt_aux *a)
{
	driver_release_rings(d);
	if (d->committed) {
		const struct ring *r = &d->ring[d->oldest];

		*a = (struct ptt_aux){ r->p, r->n, r->truncated ? PTT_AUX_TRUNCATED : 0, r->lost };
		d->lent = true;
		return 1;
	}
	return take_rest(d, a);
}

bool ptt_driver_has_room(const struct ptt_driver *d)
{
	return d->committed < RINGS;
}

/* ---- life --------------------------------------------------------------------------------------- */

static int driver_probe_device(struct ptt_driver *d, uint64_t base, struct err *e)
{
	uint32_t location;
	int rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < PTT_BUFFERS; i++) {
		const uint64_t to = base + (uint64_t)i * PTT_BUFFER_BYTES;

		rc = driver_set_register(d, PTT_REG_TRACE_ADDR_BASE_LO_0 + 8 * i, (uint32_t)to, e);
		if (rc >= 0)
			rc = driver_set_register(d, PTT_REG_TRACE_ADDR_BASE_HI_0 + 8 * i, (uint32_t)(to >> 32), e);
	}
	/* The location is read because Linux's driver does, and a device may count accesses; nothing here needs it. */
	if (rc < 0 || (rc = driver_set_register(d, PTT_REG_TRACE_ADDR_SIZE, PTT_BUFFER_BYTES, e)) < 0 ||
	    (rc = driver_get_register(d, PTT_REG_DEVICE_RANGE, &d->range, e)) < 0 ||
	    (rc = driver_get_register(d, PTT_REG_LOCATION, &location, e)) < 0)
		return rc;
	if (d->range == 0 || d->range == UINT32_MAX || d->range >> 16 < (d->range & 0xffff))
		return err_set(e, TALLY_ENOTSUP, "no PTT device answers: it gives %#x as the range of its root ports",
			       d->range);
	return 0;
}

int ptt_driver_open(struct ptt_driver **ret, const struct ptt_regs *regs, uint8_t *memory, uint64_t base, struct err *e)
{
	struct ptt_driver *d = mem_alloc(sizeof(*d));
	int rc;

	if (!d)
		return err_oom(e);
	d->regs = *regs;
	d->memory = memory;
	rc = driver_probe_device(d, base, e);
	if (rc < 0) {
		mem_free(d);
		return rc;
	}
	*ret = d;
	return 0;
}

void ptt_driver_close(struct ptt_driver *d)
{
	struct err e = { 0 };

	if (!d)
		return;
	if (d->tracing)
		ptt_driver_stop(d, &e);
	rings_free(d->ring);
	mem_free(d);
}
