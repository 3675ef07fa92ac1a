/*
 * vfio_fuzz.c: any bytes as what a client sends: messages one after the other, and packets that pass the device
 * after each.  The upper flags of a header, which mean nothing, say what came along; seeds in test/fuzz/vfio.
 */
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/vfio_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY (1 << 20)

/* What a client can send along; made once, for a run is shorter than making them. */
static int memory = -1, event = -1;

static int along(uint32_t flags)
{
	return flags & 1u << 31 ? dup(memory) : flags & 1u << 30 ? dup(event) : -1;
}

static void pass(struct ptt_dev *d)
{
	const struct ptt_tlp t = { .dw = { 0x40000001 }, .port = 1, .function = 0x100, .cls = PTT_CLASS_P };

	for (uint32_t i = 0; i < 8; i++)
		ptt_dev_packets(d, &t, 1);
}

/* The next message: as long as it says, or as what is left. Returns the bytes taken. */
static size_t next(struct vfio *v, const uint8_t *data, size_t size)
{
	uint8_t in[VFIO_MESSAGE_MOST], out[VFIO_MESSAGE_MOST];
	struct vu_header h, r;
	struct vfio_message m = { .p = in };
	size_t n;

	memcpy(&h, data, sizeof(h));
	m.n = vfio_message_size(data);
	if (m.n == 0 || m.n > size)
		m.n = size < sizeof(in) ? size : sizeof(in);
	memcpy(in, data, m.n);
	h.size = (uint32_t)m.n;
	memcpy(in, &h, sizeof(h));
	m.fd = along(h.flags);
	m.too_many_fds = h.flags & 1u << 29;
	n = vfio_answer(v, &m, out);
	if (m.fd >= 0)
		close(m.fd);
	if (n) {
		memcpy(&r, out, sizeof(r));
		assert(r.size == n && n >= sizeof(r) && n <= sizeof(out) && r.id == h.id && r.command == h.command);
		assert(!r.error == !(r.flags & VU_ERROR) && (!r.error || n == sizeof(r)));
	}
	return m.n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ptt_dev *dev = NULL;
	struct vfio v;
	int lowest;

	if (memory < 0) {
		memory = memfd_create("guest", MFD_CLOEXEC);
		event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (memory < 0 || event < 0 || ftruncate(memory, MEMORY) < 0)
			return 0;
	}
	lowest = dup(memory);
	close(lowest);
	if (ptt_dev_open(&dev, &(struct ptt_dev_opts){ 0 }) < 0)
		return 0;
	vfio_start(&v, dev);
	v.greeted = size % 8;
	for (size_t at = 0; size - at >= sizeof(struct vu_header) && !v.over; pass(dev))
		at += next(&v, data + at, size - at);
	vfio_stop(&v);
	ptt_dev_close(dev);
	assert(dup(memory) == lowest && mem_live() == 0);
	close(lowest);
	return 0;
}
