/* device_fuzz.c: any registers, packets and DMA failures, and a driver whose device may lie: nothing is written beyond
 * a buffer or a ring, and every packet is counted once. */
#include "ptt/device_test_int.h"
#include "ptt/driver.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What moves whole buffers is slow: each is done so often in a run. */
enum { SMALL = 4096, RING = PTT_BUFFER_BYTES, STARTS = 2, LIES = 4, FLOODS = 1, STEPS = 100 };

struct input {
	const uint8_t *p, *end;
	uint64_t seed;
	struct guest g;
	struct ptt_driver *d;
	bool lies, dies;
	int starts, told, floods;
};

static uint32_t take(struct input *in, size_t n)
{
	uint32_t v = 0;

	while (n-- && in->p < in->end)
		v = v << 8 | *in->p++;
	return v;
}

static uint32_t any_register(struct input *in)
{
	static const uint32_t off[] = {
#define PTT_REG(name, at, ...) at,
#include "facts/ptt_reg.def"
#undef PTT_REG
	};
	const uint32_t v = take(in, 1);

	return v < 200 ? off[v % COUNT(off)] : take(in, 4);
}

static void packets(struct input *in, uint32_t times)
{
	struct ptt_tlp t[16];
	const uint32_t n = take(in, 1);

	for (uint32_t i = 0; i < COUNT(t); i++) {
		t[i] = any_packet(&in->seed, i);
		t[i].cls |= (uint8_t)(in->seed >> 60 << 2);
	}
	for (uint32_t i = 0; i < times; i++)
		ptt_dev_packets(in->g.dev, t, n % (COUNT(t) + 1));
}

static void check(const struct input *in)
{
	const struct ptt_dev_counts *c = ptt_dev_counts(in->g.dev);
	const uint32_t sts = ptt_dev_read(in->g.dev, PTT_REG_TRACE_WR_STS);

	assert(c->seen == c->recorded + c->filtered + c->lost);
	assert(c->dma_errors <= c->recorded);
	assert((sts & 0x0fffffff) <= PTT_BUFFER_MOST && sts >> 30 == 0);
	assert(ptt_dev_read(in->g.dev, PTT_REG_TRACE_INT_STAT) <= 0xf);
	for (int i = 0; i < PTT_TUNES; i++)
		assert(ptt_dev_tuned(in->g.dev, i) <= PTT_TUNE_MOST);
}

/* A driver of the guest that does anything within its interrupt. */
static void any_irq(struct guest *g)
{
	struct input *in = g->arg;

	for (uint32_t n = take(in, 1) % 4; n--;)
		if (take(in, 1) & 1)
			ptt_dev_write(g->dev, any_register(in), take(in, 4));
		else
			ptt_dev_read(g->dev, any_register(in));
}

static void device_step(struct input *in)
{
	const uint32_t op = take(in, 1);

	if (op < 90)
		ptt_dev_write(in->g.dev, any_register(in), take(in, 4));
	else if (op < 120)
		ptt_dev_read(in->g.dev, any_register(in));
	else if (op < 130)
		ptt_dev_write(in->g.dev, PTT_REG_TRACE_ADDR_SIZE, take(in, 1));
	else if (op < 150)
		ptt_dev_write(in->g.dev, PTT_REG_TRACE_CTRL, 0xffff0071 | (take(in, 2) & 0xc00d));
	else if (op < 160)
		ptt_dev_write(in->g.dev, PTT_REG_TRACE_INT_STAT, 0xf);
	else if (op < 163)
		ptt_dev_reset(in->g.dev);
	else if (op < 170)
		in->g.broken = op & 1;
	else if (op == 170 && in->floods++ < FLOODS)
		packets(in, PTT_BUFFER_BYTES / 32 / 16);
	else
		packets(in, 1 + take(in, 1) % 8);
}

/* ---- through the driver: a device behind a socket may say anything -------------------------------- */

static int reg_read(void *arg, uint32_t off, uint32_t *value, struct err *e)
{
	struct input *in = arg;

	if (in->dies)
		return err_set(e, TALLY_EIO, "gone");
	*value = ptt_dev_read(in->g.dev, off);
	if (in->lies && in->told < LIES && take(in, 1) & 1) {
		in->told++;
		*value ^= take(in, 4);
	}
	return 0;
}

static int reg_write(void *arg, uint32_t off, uint32_t value, struct err *e)
{
	struct input *in = arg;

	if (in->dies)
		return err_set(e, TALLY_EIO, "gone");
	ptt_dev_write(in->g.dev, off, value);
	return 0;
}

static void driver_irq(struct guest *g)
{
	struct input *in = g->arg;
	struct err e = { 0 };

	if (in->d)
		ptt_driver_interrupt(in->d, &e);
}

static void start(struct input *in)
{
	const struct ptt_ask ask = { .filter = take(in, 3) & 0xfffff,
				     .type = (uint8_t)take(in, 1) & 7,
				     .direction = take(in, 1) & 3,
				     .format = take(in, 1) & 1 };
	struct err e = { 0 };

	if (in->starts++ < STARTS)
		ptt_driver_start(in->d, &ask, RING * (take(in, 1) % 3), &e);
}

static void read_on(struct input *in)
{
	struct ptt_aux a;
	uint8_t last[64];

	if (!ptt_driver_take(in->d, &a))
		return;
	assert(a.n <= 2 * RING && (a.flags & ~PTT_AUX_TRUNCATED) == 0 && (a.lost == 0 || a.flags));
	if (a.n >= sizeof(last))
		memcpy(last, a.p + a.n - sizeof(last), sizeof(last));
}

static void driver_step(struct input *in)
{
	const uint32_t op = take(in, 1);
	struct err e = { 0 };
	uint32_t v;

	if (op < 30)
		start(in);
	else if (op < 60)
		ptt_driver_stop(in->d, &e);
	else if (op < 100)
		read_on(in);
	else if (op < 130)
		ptt_driver_interrupt(in->d, &e);
	else if (op < 140)
		ptt_driver_tune_get(in->d, take(in, 1) % PTT_TUNES, &v, &e);
	else if (op < 150)
		ptt_driver_tune_set(in->d, take(in, 1) % PTT_TUNES, take(in, 3), &e);
	else if (op < 160)
		in->lies = !in->lies;
	else if (op < 162)
		in->dies = !in->dies;
	else if (op < 170)
		in->g.broken = !in->g.broken;
	else if (op == 170 && in->floods++ < FLOODS)
		packets(in, PTT_BUFFER_BYTES / 32 / 16);
	else
		packets(in, 1 + take(in, 1) % 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { .p = data, .end = data + size, .seed = 1 };
	const struct ptt_regs regs = { &in, reg_read, reg_write, NULL };
	const uint32_t how = take(&in, 1);
	const struct ptt_dev_opts o = { .busy_polls = how >> 6, .delta = how & 2 };
	static uint8_t memory[PTT_BUFFERS * PTT_BUFFER_BYTES]; /* once: it is large */
	struct err e = { 0 };

	if (guest_open_over(&in.g, &o, memory, 0, how & 1 ? sizeof(memory) : SMALL) < 0)
		return 0;
	in.g.arg = &in;
	in.g.on_irq = how & 1 ? driver_irq : how & 4 ? any_irq : NULL;
	if (how & 1 && ptt_driver_open(&in.d, &regs, in.g.memory, 0, &e) < 0)
		assert(in.lies);
	for (int i = 0; i < STEPS && in.p < in.end; i++) {
		if (in.d)
			driver_step(&in);
		else
			device_step(&in);
	}
	check(&in);
	ptt_driver_close(in.d);
	ptt_dev_close(in.g.dev);
	return 0;
}
