/*
 * vfio_message.c: a vfio-user message and its answer.
 *
 * One row a command: the least payload it has and who answers.  A message is a
 * private copy whose length the socket's side has checked against its header; the
 * least payload is checked here, once, and what a payload says about its own
 * length is checked against what there is.  An answer needs no memory and waits
 * for nothing, and the bytes of a reply are all set.
 *
 * Registers are 32 bits wide.  A read of any size and place gives the bytes of the
 * registers that it touches, as a read over PCI Express does; a write must be of
 * whole registers, since a register that is cleared by writing ones can't be
 * written in part: anything else is EINVAL, and a guest sees nothing happen.
 * Accesses to BAR 2 are answered whether or not memory is enabled in the command
 * register: the client decides when it shows the BAR.  DMA and the interrupt, both
 * of which are writes to memory, need the bus master bit.
 *
 * Before memory is unmapped or bus mastering ends, the device is made to hand over
 * what it has taken so far.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/vfio_int.h"

/* a command that is being answered */
struct call {
	struct vfio *v;
	const uint8_t *p; /* payload of n bytes */
	size_t n;
	int *fd;
	uint8_t *reply; /* payload, VFIO_MESSAGE_MOST - 16 bytes */
	size_t replied;
};

static void vfio_call_reply(struct call *c, const void *p, size_t n)
{
	memcpy(c->reply + c->replied, p, n);
	c->replied += n;
}

/* ---- what the device does ------------------------------------------------------------- */
static int vfio_device_dma(void *arg, uint64_t to, const void *p, size_t n)
{
	struct vfio *v = arg;

	if (!vfio_config_master(&v->config))
		return -TALLY_EPERM;
	return vfio_dma_write(&v->maps, to, p, n);
}

/* An eventfd that its owner has filled to the brim must not hold us up. */
static void signal_client(struct vfio *v)
{
	struct pollfd p = { .fd = v->irq, .events = POLLOUT };
	uint64_t one = 1;

	while (v->irq >= 0 && poll(&p, 1, 0) == 1 && p.revents & POLLOUT && write(v->irq, &one, sizeof(one)) < 0 &&
	       errno == EINTR)
		;
}

static void vfio_device_irq(void *arg)
{
	struct vfio *v = arg;

	if (vfio_config_master(&v->config))
		signal_client(v);
}

/* Bytes that the device took are in memory once its write status was read. */
static void vfio_settle_bytes(struct vfio *v)
{
	if (ptt_dev_tracing(v->dev))
		ptt_dev_read(v->dev, PTT_REG_TRACE_WR_STS);
}

static void vfio_reset_device(struct vfio *v)
{
	ptt_dev_reset(v->dev);
	vfio_config_reset(&v->config);
}

static void irq_drop(struct vfio *v)
{
	if (v->irq >= 0)
		close(v->irq);
	v->irq = -1;
}

void vfio_start(struct vfio *v, struct ptt_dev *dev)
{
	memset(v, 0, sizeof(*v));
	v->dev = dev;
	v->irq = -1;
	v->host = (struct ptt_host){ v, vfio_device_dma, vfio_device_irq };
	vfio_reset_device(v);
	ptt_dev_host(dev, &v->host);
}

void vfio_stop(struct vfio *v)
{
	vfio_reset_device(v);
	ptt_dev_host(v->dev, NULL);
	vfio_unmap_all(&v->maps);
	irq_drop(v);
}

/* ---- negotiation ----------------------------------------------------------------------- */
static int answer_version(struct call *c)
{
	struct vu_version v;
	const char *json = (const char *)c->p + sizeof(v);
	size_t n = c->n - sizeof(v);
	uint32_t caps = 0;

	memcpy(&v, c->p, sizeof(v));
	c->v->over = v.major != VU_MAJOR;
	if (c->v->over || c->v->greeted)
		return EINVAL;
	if (n && (json[n - 1] || !vfio_caps_read(json, n - 1, &caps)))
		return EINVAL;
	if (v.minor > VU_MINOR)
		v.minor = VU_MINOR;
	vfio_call_reply(c, &v, sizeof(v));
	c->replied += vfio_caps_write((char *)c->reply + c->replied, VFIO_XFER_MOST, caps);
	c->v->greeted = true;
	return 0;
}

/* ---- memory ---------------------------------------------------------------------------- */
static int answer_dma_map(struct call *c)
{
	struct vu_map m;

	memcpy(&m, c->p, sizeof(m));
	return m.argsz < sizeof(m) ? EINVAL : vfio_map(&c->v->maps, &m, c->fd);
}

static int answer_dma_unmap(struct call *c)
{
	struct vu_unmap m;
	int rc;

	memcpy(&m, c->p, sizeof(m));
	if (m.argsz < sizeof(m))
		return EINVAL;
	vfio_settle_bytes(c->v);
	rc = vfio_unmap(&c->v->maps, &m);
	if (rc == 0)
		vfio_call_reply(c, &m, sizeof(m));
	return rc;
}

/* ---- what there is ---------------------------------------------------------------------- */
static int answer_device_info(struct call *c)
{
	struct vu_device_info i;

	memcpy(&i, c->p, sizeof(i));
	if (i.argsz < sizeof(i))
		return EINVAL;
	i = (struct vu_device_info){ sizeof(i), VU_DEVICE_RESETS | VU_DEVICE_PCI, VU_REGIONS, VU_IRQS };
	vfio_call_reply(c, &i, sizeof(i));
	return 0;
}

static uint32_t region_size(uint32_t region)
{
	return region == VU_REGION_BAR2 ? PTT_BAR_SIZE : region == VU_REGION_CONFIG ? VFIO_CONFIG_SIZE : 0;
}

static int answer_region_info(struct call *c)
{
	struct vu_region_info i;
	uint32_t size;

	memcpy(&i, c->p, sizeof(i));
	if (i.argsz < sizeof(i) || i.index >= VU_REGIONS)
		return EINVAL;
	size = region_size(i.index);
	i = (struct vu_region_info){ .argsz = sizeof(i),
				     .index = i.index,
				     .size = size,
				     .flags = size ? VU_REGION_READABLE | VU_REGION_WRITABLE : 0 };
	vfio_call_reply(c, &i, sizeof(i));
	return 0;
}

/* No part of a region is reached through descriptors: an empty list. */
static int answer_region_io_fds(struct call *c)
{
	struct vu_region_io_fds i;

	memcpy(&i, c->p, sizeof(i));
	if (i.argsz < sizeof(i) || i.flags || i.count || i.index >= VU_REGIONS)
		return EINVAL;
	i.argsz = sizeof(i);
	vfio_call_reply(c, &i, sizeof(i));
	return 0;
}

/* ---- the interrupt ----------------------------------------------------------------------- */
static int answer_irq_info(struct call *c)
{
	struct vu_irq_info i;
	bool msi;

	memcpy(&i, c->p, sizeof(i));
	if (i.argsz < sizeof(i) || i.index >= VU_IRQS)
		return EINVAL;
	msi = i.index == VU_IRQ_MSI;
	i = (struct vu_irq_info){ sizeof(i), msi ? VU_IRQ_EVENTFD | VU_IRQ_NORESIZE : 0, i.index, msi };
	vfio_call_reply(c, &i, sizeof(i));
	return 0;
}

/* Takes an eventfd (-1: none from now on). Of descriptors without a file type only eventfds can be written to; one that
 * waits is made not to. */
static int irq_take(struct vfio *v, int *fd)
{
	struct stat st;
	int flags;

	if (*fd >= 0) {
		flags = fcntl(*fd, F_GETFL);
		if (fstat(*fd, &st) < 0 || st.st_mode & S_IFMT || flags < 0 || flags & O_PATH ||
		    fcntl(*fd, F_SETFL, flags | O_NONBLOCK) < 0)
			return EINVAL;
	}
	irq_drop(v);
	v->irq = *fd;
	*fd = -1;
	return 0;
}

static int answer_set_irqs(struct call *c)
{
	struct vu_irq_set s;
	uint32_t data;
	bool msi;

	memcpy(&s, c->p, sizeof(s));
	data = s.flags & VU_SET_DATA;
	msi = s.index == VU_IRQ_MSI;
	if (s.argsz < sizeof(s) || s.index >= VU_IRQS || s.flags & ~(VU_SET_DATA | VU_SET_ACTION) || s.start ||
	    (s.flags & VU_SET_ACTION) != VU_SET_TRIGGER || s.count > msi)
		return EINVAL;
	if (data == VU_SET_EVENTFD || (data == VU_SET_NONE && !s.count)) {
		if (*c->fd >= 0 && (data != VU_SET_EVENTFD || !s.count))
			return EINVAL;
		return msi ? irq_take(c->v, c->fd) : 0;
	}
	if (!s.count || (data != VU_SET_NONE && data != VU_SET_BOOL))
		return EINVAL;
	if (data == VU_SET_BOOL && c->n == sizeof(s))
		return EINVAL;
	if (data == VU_SET_NONE || c->p[sizeof(s)])
		signal_client(c->v);
	return 0;
}

/* ---- reading and writing ------------------------------------------------------------------ */
static bool access_good(const struct vu_access *a)
{
	uint32_t size = a->region < VU_REGIONS ? region_size(a->region) : 0;

	return a->count && a->count <= VFIO_XFER_MOST && a->offset < size && a->count <= size - a->offset;
}

static void bar_read(struct ptt_dev *d, uint32_t off, uint8_t *p, uint32_t n)
{
	while (n) {
		uint32_t le = htole32(ptt_dev_read(d, off & ~3u)), lane = off & 3, part = 4 - lane < n ? 4 - lane : n;

		memcpy(p, (uint8_t *)&le + lane, part);
		p += part;
		off += part;
		n -= part;
	}
}

static int bar_write(struct ptt_dev *d, uint32_t off, const uint8_t *p, uint32_t n)
{
	uint32_t le;

	if ((off | n) & 3)
		return EINVAL;
	for (; n; n -= 4, off += 4, p += 4) {
		memcpy(&le, p, sizeof(le));
		ptt_dev_write(d, off, le32toh(le));
	}
	return 0;
}

static int region_write(struct vfio *v, const struct vu_access *a, const uint8_t *p)
{
	if (!access_good(a))
		return EINVAL;
	if (a->region == VU_REGION_BAR2)
		return bar_write(v->dev, (uint32_t)a->offset, p, a->count);
	vfio_settle_bytes(v);
	if (vfio_config_write(&v->config, (uint32_t)a->offset, p, a->count))
		vfio_reset_device(v);
	return 0;
}

static int answer_region_read(struct call *c)
{
	struct vu_access a;
	uint8_t *to = c->reply + sizeof(a);

	memcpy(&a, c->p, sizeof(a));
	if (!access_good(&a))
		return EINVAL;
	vfio_call_reply(c, &a, sizeof(a));
	if (a.region == VU_REGION_CONFIG)
		vfio_config_read(&c->v->config, (uint32_t)a.offset, to, a.count);
	else
		bar_read(c->v->dev, (uint32_t)a.offset, to, a.count);
	c->replied += a.count;
	return 0;
}

static int answer_region_write(struct call *c)
{
	struct vu_access a;
	int rc;

	memcpy(&a, c->p, sizeof(a));
	if (c->n - sizeof(a) != a.count)
		return EINVAL;
	rc = region_write(c->v, &a, c->p + sizeof(a));
	if (rc == 0)
		vfio_call_reply(c, &a, sizeof(a));
	return rc;
}

/* Stops at the first that can't be done. */
static int answer_region_writes(struct call *c)
{
	struct vu_multi m;
	struct vu_write w;
	int rc = 0;

	memcpy(&m, c->p, sizeof(m));
	if ((c->n - sizeof(m)) % sizeof(w) || m.count != (c->n - sizeof(m)) / sizeof(w))
		return EINVAL;
	for (uint64_t i = 0; i < m.count && rc == 0; i++) {
		memcpy(&w, c->p + sizeof(m) + i * sizeof(w), sizeof(w));
		rc = w.at.count > VU_MULTI_BYTES ? EINVAL : region_write(c->v, &w.at, w.data);
	}
	if (rc == 0)
		vfio_call_reply(c, &m, sizeof(m));
	return rc;
}

static int answer_device_reset(struct call *c)
{
	vfio_reset_device(c->v);
	return 0;
}

/* ---- a message ----------------------------------------------------------------------------- */
static const struct row {
	size_t least; /* bytes of payload */
	int (*answer)(struct call *c);
} rows[VU_COMMANDS] = {
	[VU_VERSION] = { sizeof(struct vu_version), answer_version },
	[VU_DMA_MAP] = { sizeof(struct vu_map), answer_dma_map },
	[VU_DMA_UNMAP] = { sizeof(struct vu_unmap), answer_dma_unmap },
	[VU_DEVICE_GET_INFO] = { sizeof(struct vu_device_info), answer_device_info },
	[VU_DEVICE_GET_REGION_INFO] = { sizeof(struct vu_region_info), answer_region_info },
	[VU_DEVICE_GET_REGION_IO_FDS] = { sizeof(struct vu_region_io_fds), answer_region_io_fds },
	[VU_DEVICE_GET_IRQ_INFO] = { sizeof(struct vu_irq_info), answer_irq_info },
	[VU_DEVICE_SET_IRQS] = { sizeof(struct vu_irq_set), answer_set_irqs },
	[VU_REGION_READ] = { sizeof(struct vu_access), answer_region_read },
	[VU_REGION_WRITE] = { sizeof(struct vu_access), answer_region_write },
	[VU_DEVICE_RESET] = { 0, answer_device_reset },
	[VU_REGION_WRITE_MULTI] = { sizeof(struct vu_multi), answer_region_writes },
};

uint32_t vfio_message_size(const uint8_t header[static sizeof(struct vu_header)])
{
	struct vu_header h;

	memcpy(&h, header, sizeof(h));
	return h.size >= sizeof(h) && h.size <= VFIO_MESSAGE_MOST ? h.size : 0;
}

static int vfio_dispatch_call(struct call *c, const struct vu_header *h, bool too_many_fds)
{
	const struct row *r = h->command < VU_COMMANDS ? &rows[h->command] : &rows[0];

	if ((h->flags & VU_TYPE) != VU_TYPE_COMMAND || too_many_fds)
		return EINVAL;
	if (h->command != VU_VERSION && !c->v->greeted)
		return EINVAL;
	if (!r->answer)
		return ENOTSUP;
	return c->n < r->least ? EINVAL : r->answer(c);
}

size_t vfio_answer(struct vfio *v, struct vfio_message *m, uint8_t to[static VFIO_MESSAGE_MOST])
{
	struct vu_header h;
	struct call c = { .v = v, .p = m->p + sizeof(h), .n = m->n - sizeof(h), .fd = &m->fd, .reply = to + sizeof(h) };
	int rc;

	memcpy(&h, m->p, sizeof(h));
	if ((h.flags & VU_TYPE) == VU_TYPE_REPLY)
		return 0; /* to what? we have asked nothing */
	rc = vfio_dispatch_call(&c, &h, m->too_many_fds);
	if (h.flags & VU_NO_REPLY)
		return 0;
	h.size = (uint32_t)(sizeof(h) + (rc ? 0 : c.replied));
	h.flags = VU_TYPE_REPLY | (rc ? VU_ERROR : 0);
	h.error = (uint32_t)rc;
	memcpy(to, &h, sizeof(h));
	return h.size;
}
