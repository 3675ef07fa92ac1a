/*
 * hv.c: hypercalls of a SPARC guest, answered inside somebody else's emulator.
 *
 *	cc hv.c -ltally && ./a.out
 *
 * Here the emulator is a few lines: memory, and a function for what its processor does at `ta`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <tally/hv.h>

#define BASE UINT64_C(0x80000000)
static _Alignas(64) uint8_t ram[1 << 20];

static void *memory(void *arg, uint64_t ra, size_t n)
{
	(void)arg;
	if (ra < BASE || n > sizeof(ram) || ra - BASE > sizeof(ram) - n)
		return NULL;
	return ram + (ra - BASE);
}

/* `ta trap` on virtual CPU 0. Negative: not answered; else %o0, the status, with %o1 in *ret. */
static int64_t ta(struct tally_hv_guest *g, uint32_t trap, uint64_t function, uint64_t o0, uint64_t o1, uint64_t o2,
		  uint64_t *ret)
{
	uint64_t o[6] = { o0, o1, o2, 0, 0, function };
	int rc = tally_hv_call(g, 0, trap, o);

	*ret = o[1];
	return rc < 0 ? rc : (int64_t)o[0];
}

int main(int argc, char **argv)
{
	struct tally_hv_opts opts = { .size = sizeof(opts), .machine = argc > 1 ? argv[1] : "batoka,load=stream" };
	struct tally_hv_guest_opts guest = { .size = sizeof(guest), .memory = memory };
	struct tally_hv_guest *g = NULL;
	struct tally_hv *h = NULL;
	uint64_t v;
	/* api_set_version of group 0x205 to 1.1; NODE0_MCU0_PCR to reads and writes; NODE0_MCU0_PIC to 0 */
	int64_t rc = tally_hv_open(&h, &opts) < 0 || tally_hv_guest_open(&g, h, &guest) < 0 ?
			     -1 :
			     ta(g, 0xff, 0, 0x205, 1, 1, &v);

	rc = rc ? rc : ta(g, 0x80, 0x107, 2, 0x01, 0, &v);
	rc = rc ? rc : ta(g, 0x80, 0x107, 3, 0, 0, &v);
	for (int ms = 1; !rc && ms <= 3; ms++) {
		tally_hv_advance(h, 1000000);
		rc = ta(g, 0x80, 0x106, 3, 0, 0, &v);
		printf("%d ms: %" PRIu64 " reads, %" PRIu64 " writes\n", ms, v >> 32, v & 0x7fffffff);
	}
	if (rc)
		fprintf(stderr,
			"hv: status %" PRId64 " %s (the guest's calls are those of Victoria Falls: batoka, maramba)\n",
			rc, rc < 0 && h ? tally_hv_error(h) : "");
	tally_hv_guest_close(g);
	tally_hv_close(h);
	return rc != 0;
}
