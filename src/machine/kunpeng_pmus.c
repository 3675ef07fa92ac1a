/*
 * kunpeng_pmus.c: the kunpeng machine with tally's own driver, as a platform.
 *
 * Each PTT device has a driver, and 16 MiB of plain memory that the device's DMA reaches at a bus address of its own.
 * An interrupt only sets a mark and asks the machine to pause. When the machine stands, advance() lets the driver
 * copy, and goes on if the driver has room for one more buffer. So a trace loses nothing: while the reader does not
 * take committed data, time stands still.
 *
 * One trace runs at a time, since next() has one stream. The bytes of a stopped trace are given until they end or
 * another trace starts.
 *
 * Thread rule: one thread at a time for all of it.
 */
#include <string.h>

#include "machine/machine.h"
#include "ptt/driver.h"

#define DMA_BYTES ((uint64_t)PTT_BUFFERS * PTT_BUFFER_BYTES)
#define DMA_BASE(i) (0x100000000ull * ((i) + 1))
#define NO_TRACE PTT_PMU_MOST

/* of one device */
struct host {
	struct kunpeng *k;
	struct ptt_dev *dev;
	struct ptt_driver *driver;
	uint8_t *memory;
	uint64_t base;
	bool interrupted;
	struct ptt_filter *filter; /* as the last list() found them */
};
struct kunpeng_host {
	struct kunpeng *k;
	uint32_t n, trace; /* trace: the device whose bytes next() gives, or NO_TRACE */
	bool on;           /* it is not stopped */
	struct host *host;
	struct ptt_pmu *pmu;
};

/* ---- what the device and the driver reach -------------------------------------------------------- */

static int host_dma(void *arg, uint64_t to, const void *p, size_t n)
{
	struct host *h = arg;
	uint64_t at = to - h->base;

	if (to < h->base || at > DMA_BYTES || n > DMA_BYTES - at)
		return -TALLY_EIO;
	memcpy(h->memory + at, p, n);
	return 0;
}

static void host_irq(void *arg)
{
	struct host *h = arg;

	h->interrupted = true;
	kunpeng_pause(h->k);
}

static int reg_read(void *arg, uint32_t off, uint32_t *value, struct err *e)
{
	struct host *h = arg;

	(void)e;
	*value = ptt_dev_read(h->dev, off);
	return 0;
}

static int reg_write(void *arg, uint32_t off, uint32_t value, struct err *e)
{
	struct host *h = arg;

	(void)e;
	ptt_dev_write(h->dev, off, value);
	return 0;
}

/* ---- opening -------------------------------------------------------------------------------------- */

static void host_close(void *arg)
{
	struct kunpeng_host *m = arg;

	for (uint32_t i = 0; m->host != NULL && i < m->n; i++) {
		ptt_driver_close(m->host[i].driver);
		ptt_dev_host(m->host[i].dev, NULL);
		mem_free(m->host[i].memory);
		mem_free(m->host[i].filter);
	}
	kunpeng_close(m->k);
	mem_free(m->host);
	mem_free(m->pmu);
	mem_free(m);
}

static int open_host(struct kunpeng_host *m, uint32_t i, struct err *e)
{
	struct host *h = &m->host[i];
	const struct ptt_regs regs = { .arg = h, .read = reg_read, .write = reg_write };
	const struct ptt_host host = { .arg = h, .dma = host_dma, .irq = host_irq };

	h->k = m->k;
	h->base = DMA_BASE(i);
	h->memory = mem_alloc(DMA_BYTES);
	if (h->memory == NULL)
		return err_oom(e);
	ptt_dev_host(h->dev, &host);
	return ptt_driver_open(&h->driver, &regs, h->memory, h->base, e);
}

/* ---- the platform ----------------------------------------------------------------------------------- */

static int copy_pmu(struct ptt_pmu *to, struct host *h, const struct ptt_pmu *from, struct err *e)
{
	size_t bytes = from->nfilters * sizeof(*from->filter);
	struct ptt_filter *filter = mem_grow(h->filter, bytes);

	if (filter == NULL)
		return err_oom(e);
	memcpy(filter, from->filter, bytes);
	h->filter = filter;
	*to = *from;
	to->filter = filter;
	return 0;
}

static int host_list(void *arg, const struct ptt_pmu **ret, uint32_t *n, struct err *e)
{
	struct kunpeng_host *m = arg;
	int rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < m->n; i++)
		rc = copy_pmu(&m->pmu[i], &m->host[i], kunpeng_pmu(m->k, i), e);
	if (rc < 0)
		return rc;
	*ret = m->pmu;
	*n = m->n;
	return 0;
}

static int no_such(const struct kunpeng_host *m, uint32_t i, struct err *e)
{
	return err_set(e, TALLY_EINVAL, "device %u: the kunpeng machine has %u", i, m->n);
}

static int host_tune_get(void *arg, uint32_t i, enum ptt_tune t, uint32_t *value, struct err *e)
{
	struct kunpeng_host *m = arg;

	return i < m->n ? ptt_driver_tune_get(m->host[i].driver, t, value, e) : no_such(m, i, e);
}

static int host_tune_set(void *arg, uint32_t i, enum ptt_tune t, uint32_t value, struct err *e)
{
	struct kunpeng_host *m = arg;

	return i < m->n ? ptt_driver_tune_set(m->host[i].driver, t, value, e) : no_such(m, i, e);
}

static int host_start(void *arg, const struct ptt_pmu *p, const struct ptt_ask *ev, size_t ring, struct err *e)
{
	struct kunpeng_host *m = arg;
	uint32_t i = 0;

	while (i < m->n && strcmp(kunpeng_pmu(m->k, i)->name, p->name) != 0)
		i++;
	if (i == m->n)
		return err_set(e, TALLY_EINVAL, "%s: the kunpeng machine has no such device", p->name);
	if (m->on)
		return err_set(e, TALLY_EBUSY, "%s: a trace of %s is running; stop it first", p->name,
			       kunpeng_pmu(m->k, m->trace)->name);
	int rc = ptt_driver_start(m->host[i].driver, ev, ring, e);
	if (rc < 0)
		return rc;
	m->host[i].interrupted = false;
	m->trace = i;
	m->on = true;
	return 0;
}

/* Time passes in advance() only, so there is nothing to wait for. */
static int host_next(void *arg, struct ptt_aux *a, int timeout_ms, struct err *e)
{
	struct kunpeng_host *m = arg;

	(void)timeout_ms;
	(void)e;
	return m->trace != NO_TRACE ? ptt_driver_take(m->host[m->trace].driver, a) : 0;
}

static int host_stop(void *arg, struct err *e)
{
	struct kunpeng_host *m = arg;

	if (!m->on)
		return 0;
	m->on = false;
	return ptt_driver_stop(m->host[m->trace].driver, e);
}

/* What the device has finished is copied. false: there is no room for more. */
static bool host_serve_traces(struct kunpeng_host *m)
{
	struct host *h = m->on ? &m->host[m->trace] : NULL;

	if (h == NULL)
		return true;
	if (!ptt_driver_has_room(h->driver))
		return false;
	if (h->interrupted) {
		h->interrupted = false;
		ptt_driver_interrupt(h->driver, NULL); /* these registers never fail */
	}
	return ptt_driver_has_room(h->driver);
}

static uint64_t host_advance(void *arg, uint64_t ns)
{
	struct kunpeng_host *m = arg;
	uint64_t from = kunpeng_now(m->k);

	while (host_serve_traces(m) && kunpeng_now(m->k) - from < ns)
		kunpeng_run(m->k, from + ns);
	return kunpeng_now(m->k) - from;
}

static int host_link(void *arg, uint32_t i, struct ptt_link *ret, struct err *e)
{
	struct kunpeng_host *m = arg;

	if (i >= m->n)
		return no_such(m, i, e);
	kunpeng_link(m->k, i, ret);
	return 0;
}

static const struct ptt_pmus_ops ops = {
	.what = "the kunpeng model",
	.list = host_list,
	.tune_get = host_tune_get,
	.tune_set = host_tune_set,
	.start = host_start,
	.next = host_next,
	.stop = host_stop,
	.advance = host_advance,
	.close = host_close,
	.link = host_link,
};

int kunpeng_pmus(struct ptt_pmus *ret, struct kunpeng *k, struct err *e)
{
	struct kunpeng_host *m = mem_alloc(sizeof(*m));

	if (m == NULL) {
		kunpeng_close(k);
		return err_oom(e);
	}
	*m = (struct kunpeng_host){ .k = k, .n = kunpeng_ndevices(k), .trace = NO_TRACE };
	m->host = mem_alloc(m->n * sizeof(*m->host));
	m->pmu = mem_alloc(m->n * sizeof(*m->pmu));
	int rc = m->host != NULL && m->pmu != NULL ? 0 : err_oom(e);
	for (uint32_t i = 0; m->host != NULL && i < m->n; i++)
		m->host[i].dev = kunpeng_device(k, i);
	for (uint32_t i = 0; rc >= 0 && i < m->n; i++)
		rc = open_host(m, i, e);
	if (rc < 0) {
		host_close(m);
		return rc;
	}
	*ret = (struct ptt_pmus){ .arg = m, .op = &ops };
	return 0;
}
