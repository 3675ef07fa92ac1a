/*
 * record: how fast a PTT trace is recorded: device, driver, AUX ring, perf.data writer, a file on a tmpfs.
 *
 *	record 4dw|8dw MIB FILE        a prepared stream of packets goes through all of it into FILE
 *	record write 4dw|8dw MIB FILE  a plain write() of as many bytes in pieces of the same size: what there is to win
 *
 * The best of ten rounds after one that warms up, each of which starts with no FILE; prints "MiB/s of CPU time  MiB/s
 * of wall time".  Exit 1 when a record is lost, or FILE has not as many as went in.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "ptt/driver.h"
#include "ptt/gen.h"

enum { STREAM = 1 << 14, ROUNDS = 10, RING = 16 << 20 };

/* ---- what is recorded --------------------------------------------------------------------------- */

static uint32_t dw_at(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Generated traffic, inbound and through the first root port; `now` is set as it is fed. */
static struct ptt_tlp *prepare(void)
{
	const struct ptt_gen_opts o = { .seed = 1, .requesters = 16, .pages = 64 };
	struct ptt_tlp *t = mem_alloc(STREAM * sizeof(*t));
	uint8_t *p = mem_alloc(STREAM * 32);
	struct ptt_gen *g;

	if (!t || !p || ptt_gen_open(&g, &o) < 0)
		fail("no memory");
	ptt_gen_fill(g, p, STREAM * 32);
	for (size_t i = 0; i < STREAM; i++) {
		const struct tlp_type *y = tlp_type_of(p[32 * i + 11] >> 5, p[32 * i + 11] & 0x1f);
		t[i] = (struct ptt_tlp){ .now = 100 * i,
					 .prefix = dw_at(p + 32 * i + 4),
					 .port = 1,
					 .function = 0x100,
					 .cls = y->cls == TLP_RESERVED ? PTT_CLASS_P : y->cls };
		for (size_t k = 0; k < 4; k++)
			t[i].dw[k] = dw_at(p + 32 * i + 8 + 4 * k);
	}
	ptt_gen_close(g);
	mem_free(p);
	return t;
}

/* ---- a machine: the device, its memory, the driver ----------------------------------------------- */

struct machine {
	struct ptt_dev *device;
	struct ptt_driver *driver;
	uint8_t *memory;
};

static int dma(void *arg, uint64_t to, const void *p, size_t n)
{
	struct machine *m = arg;

	if (to > PTT_BUFFERS * PTT_BUFFER_BYTES - n)
		return -TALLY_EIO;
	memcpy(m->memory + to, p, n);
	return 0;
}

static void irq(void *arg)
{
	struct machine *m = arg;
	struct err e = { 0 };

	if (ptt_driver_interrupt(m->driver, &e) < 0)
		fail(e.text);
}

static int reg_read(void *arg, uint32_t off, uint32_t *value, struct err *e)
{
	struct machine *m = arg;

	(void)e;
	*value = ptt_dev_read(m->device, off);
	return 0;
}

static int reg_write(void *arg, uint32_t off, uint32_t value, struct err *e)
{
	struct machine *m = arg;

	(void)e;
	ptt_dev_write(m->device, off, value);
	return 0;
}

static void machine_open(struct machine *m)
{
	const struct ptt_dev_opts o = { .core = 2 };
	const struct ptt_host host = { m, dma, irq };
	const struct ptt_regs regs = { m, reg_read, reg_write, NULL };
	struct err e = { 0 };

	m->memory = mem_alloc(PTT_BUFFERS * PTT_BUFFER_BYTES);
	if (!m->memory || ptt_dev_open(&m->device, &o) < 0)
		fail("no memory");
	ptt_dev_host(m->device, &host);
	if (ptt_driver_open(&m->driver, &regs, m->memory, 0, &e) < 0)
		fail(e.text);
}

static void machine_close(struct machine *m)
{
	ptt_driver_close(m->driver);
	ptt_dev_close(m->device);
	mem_free(m->memory);
}

/* ---- a recording ----------------------------------------------------------------------------------- */

static uint64_t take_all(struct machine *m, struct ptt_writer *w)
{
	struct ptt_aux a;
	uint64_t bytes = 0;

	while (ptt_driver_take(m->driver, &a) > 0) {
		if (a.lost || a.flags || ptt_writer_aux(w, 0, a.p, a.n, a.flags) < 0)
			fail("taking");
		bytes += a.n;
	}
	return bytes;
}

static void record(struct machine *m, struct ptt_tlp *t, enum ptt_format format, uint64_t bytes, const char *path)
{
	const struct ptt_device device = { .name = "hisi_ptt0_2", .pmu_type = 24 };
	const struct ptt_ask ask = { .filter = 0x80001, .type = 7, .format = format == PTT_8DW };
	const uint64_t records = bytes / 4 / format;
	struct ptt_writer *w = NULL;
	struct bytes_out out;
	struct err e = { 0 };
	uint64_t taken = 0;

	if (file_out_open(&out, path, &e) < 0 || ptt_writer_open(&w, &out, &device, 1, &e) < 0 ||
	    ptt_driver_start(m->driver, &ask, RING, &e) < 0)
		fail(e.text);
	for (uint64_t i = 0; i < records; i += STREAM) {
		ptt_dev_packets(m->device, t, records - i < STREAM ? records - i : STREAM);
		taken += take_all(m, w);
	}
	if (ptt_driver_stop(m->driver, &e) < 0)
		fail(e.text);
	taken += take_all(m, w);
	if (ptt_writer_close(w) < 0 || file_out_close(&out) < 0)
		fail(path);
	const struct ptt_dev_counts *c = ptt_dev_counts(m->device);
	if (taken != records * 4 * format || c->recorded != records || c->lost || c->dma_errors)
		fail("records");
}

static void plain_write(const uint8_t *p, uint64_t bytes, const char *path)
{
	struct bytes_out out;
	struct err e = { 0 };

	if (file_out_open(&out, path, &e) < 0)
		fail(e.text);
	for (uint64_t at = 0; at < bytes; at += RING)
		if (out.put(out.arg, p, bytes - at < RING ? bytes - at : RING) < 0)
			fail(path);
	if (file_out_close(&out) < 0)
		fail(path);
}

static void go(bool plain, enum ptt_format format, uint64_t bytes, const char *path)
{
	struct machine m = { 0 };
	struct ptt_tlp *t = prepare();
	uint8_t *p = mem_alloc(RING);
	double cpu = 1e9, wall = 1e9;

	if (!p)
		fail("no memory");
	memset(p, 0x5a, RING);
	machine_open(&m);
	for (int i = 0; i <= ROUNDS; i++) {
		unlink(path);
		double c0 = seconds(CLOCK_PROCESS_CPUTIME_ID), w0 = seconds(CLOCK_MONOTONIC);
		if (plain)
			plain_write(p, bytes, path);
		else
			record(&m, t, format, bytes, path);
		double c = seconds(CLOCK_PROCESS_CPUTIME_ID) - c0, s = seconds(CLOCK_MONOTONIC) - w0;
		cpu = i > 0 && c < cpu ? c : cpu;
		wall = i > 0 && s < wall ? s : wall;
	}
	struct stat st;
	if (stat(path, &st) != 0 || (uint64_t)st.st_size < bytes)
		fail(path);
	printf("%.0f %.0f\n", (double)bytes / 1048576 / cpu, (double)bytes / 1048576 / wall);
	machine_close(&m);
	mem_free(p);
	mem_free(t);
}

int main(int argc, char **argv)
{
	const bool plain = argc == 5 && strcmp(argv[1], "write") == 0;

	if (argc != 4 && !plain)
		return 2;
	argv += plain;
	go(plain, strcmp(argv[1], "4dw") == 0 ? PTT_4DW : PTT_8DW, (uint64_t)atol(argv[2]) << 20, argv[3]);
	return 0;
}
