/*
 * papr_fuzz.c: any block of any size at any address, at any level, while other processors of the guest write to it: the
 * answer is to what was read first, stays inside the block, and says so itself.
 *
 * The input: level, options and rights, address, size, what is written meanwhile, then the block.
 */
#include "hv/papr_int.h"
#include "hv/papr_test_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct race {
	struct guest g;
	struct golden_machine m;
	const uint8_t *data;
	size_t n, at;
};

/* Some bytes of the input somewhere in the first half kilobyte of the block's place, at every step of the service. */
static void scribble(struct race *x)
{
	uint32_t to = x->n > x->at + 1 ? x->data[x->at] * 2u : 0;

	if (!to)
		return;
	x->g.p[to] ^= x->data[x->at + 1];
	x->at += 2;
}

static int next(void *arg, struct papr_caller who, const struct gpci_request *r, bool self, uint64_t from,
		uint64_t secondary, struct gpci_values *v)
{
	struct race *x = arg;

	scribble(x);
	return golden_next(&x->m, who, r, self, from, secondary, v);
}

static struct papr_rights rights(void *arg, uint16_t partition)
{
	struct race *x = arg;

	scribble(x);
	return golden_rights(&x->m, partition);
}

static void set_mmcrh(void *arg, uint64_t value)
{
	golden_set(&((struct race *)arg)->m, value);
}

static bool race_is(void *arg, uint64_t ra, uint64_t n)
{
	bool is = guest_is(arg, ra, n);

	scribble(arg); /* struct guest is its first member */
	return is;
}

static int race_read(void *arg, uint64_t ra, void *to, size_t n)
{
	int rc = guest_read(arg, ra, to, n);

	scribble(arg);
	return rc;
}

/* What a reply says must be in it. */
static void judge(struct race *x, int64_t rc, uint64_t at, uint64_t size, uint8_t level)
{
	uint8_t *block = x->g.p + at;
	struct gpci_reply rep;
	struct err e = { 0 };
	struct gpci_values v;

	assert(rc == H_SUCCESS || rc == H_PRIVILEGE || rc == H_NOT_AVAILABLE || rc == H_PARAMETER || rc == H_AUTHORITY);
	if (rc == H_SUCCESS && !level) /* reserved bytes are the guest's own */
		gpci_put(block + GPCI_AT_ELEMENT, 4, 0);
	if (rc != H_SUCCESS || gpci_reply(&rep, block, size, &e) < 0)
		return assert(rc != H_SUCCESS);
	if (rep.request == GPCI_REQUEST_mmcrh)
		return;
	for (uint32_t i = 0; i < rep.returned; i++)
		assert(gpci_record(gpci_request(rep.request, level, (uint8_t)rep.version_in), &rep, i, &v, &e) == 0);
	assert(rep.returned > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t levels[] = { 0, 3, 5, 6, 8 };
	static const struct papr_machine_ops ops = { .next = next, .set_mmcrh = set_mmcrh, .rights = rights };
	static struct race x;
	struct papr_opts o = { .ops = &ops, .arg = &x };
	struct hv_mem mem = { .arg = &x, .is = race_is, .read = race_read, .write = guest_write };
	uint64_t r[3] = { PAPR_GPCI };
	struct papr *p;
	size_t at;

	if (size < 20)
		return 0;
	x = (struct race){ .data = data + 20,
			   .n = size > 84 ? size - 84 : 0,
			   .m.rights = { data[1] & 1, data[1] & 2, data[1] & 4 } };
	o.level = levels[data[0] % COUNT(levels)];
	o.size_first = data[1] & 8;
	o.partial_success = data[1] & 16;
	o.most = data[1] & 32 ? GPCI_HEADER + data[2] : 0;
	memcpy(&r[1], data + 3, 8);
	memcpy(&r[2], data + 11, 8);
	if (data[1] & 64) { /* mostly an address that is one */
		r[1] = GUEST_BASE + r[1] % 600;
		r[2] %= GPCI_MOST + 512;
	}
	at = r[1] - GUEST_BASE < GUEST_BYTES ? r[1] - GUEST_BASE : 0;
	for (size_t i = 0; i < 64 && i + 20 < size && at + i < GUEST_BYTES; i++)
		x.g.p[at + i] = data[20 + i];
	if (o.size_first) {
		uint64_t swap = r[1];

		r[1] = r[2];
		r[2] = swap;
	}
	assert(papr_open(&p, &o) == 0);
	papr_call(p, (struct papr_caller){ .partition = 5 }, &mem, r);
	papr_close(p);
	assert(x.g.reads <= 1 && x.g.writes <= 1);
	judge(&x, (int64_t)r[0], at, o.size_first ? r[1] : r[2], o.level);
	return 0;
}
