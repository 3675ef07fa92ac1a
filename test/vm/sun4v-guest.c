/*
 * sun4v-guest.c - a guest of sun4v.sh: makes the calls of its machine and says what it saw.
 *
 *	call TRAP FUNCTION %o0 %o1 %o2 = %o0 %o1 %o2       numbers in hexadecimal
 *	slot RA WORD HITS TICKS         what is in a statistics buffer, by word; words that are 0 are left out
 *	was RA WORD HITS                what the guest has put there
 *	clear RA                        the guest has cleared it
 *
 * Calls of another kind are judged here; mach_exit's argument says how many were not as they should be.
 */
#include "sun4v.h"

enum { CONF = 0x102, INFO = 0x103, GET = 0x106, SET = 0x107, NIAGARA = 0x200, VFALLS = 0x205, NOBODY = 0x7777 };
enum { WORDS = 64, REGS = 90, CALLS = 40, ROUNDS = 3 };

u64 call_in_delay_slot(void), call_as_user(void); /* sun4v-entry.S */
HV_TRAP(fast_xcc, "%%xcc, 0x80")                  /* the instruction's other encoding */

static u64 buffer[2][WORDS] __attribute__((aligned(64)));

static void word(const char *s, u64 v)
{
	say(s), say_hex(v);
}

static void tell(u64 trap, u64 function, u64 a0, u64 a1, u64 a2, const struct answer *a)
{
	word("call ", trap), word(" ", function), word(" ", a0), word(" ", a1), word(" ", a2);
	word(" = ", a->status), word(" ", a->r1), word(" ", a->r2), say("\n");
}

static struct answer told(u64 trap, u64 function, u64 a0, u64 a1, u64 a2)
{
	struct answer a = trap == 0x80 ? fast(function, a0, a1, a2) : core(function, a0, a1, a2);

	tell(trap, function, a0, a1, a2, &a);
	return a;
}

static void version(u64 group, u64 major, u64 minor)
{
	told(0xff, 0, group, major, minor);
	told(0xff, 3, group, 0xaa, 0xbb);
}

/* ---- MMU statistics ---------------------------------------------------------------------------- */

static void say_buffer(int i)
{
	for (int w = 0; w < WORDS; w += 2)
		if (buffer[i][w] || buffer[i][w + 1]) {
			word("slot ", (u64)buffer[i]), word(" ", (u64)w);
			word(" ", buffer[i][w]), word(" ", buffer[i][w + 1]), say("\n");
		}
}

static void clear(int i)
{
	for (int w = 0; w < WORDS; w++)
		buffer[i][w] = 0;
	word("clear ", (u64)buffer[i]), say("\n");
}

static void calls(void)
{
	for (int i = 0; i < CALLS; i++)
		told(0x80, INFO, 0, 0, 0);
}

static void statistics(void)
{
	const u64 a = (u64)buffer[0], b = (u64)buffer[1];

	buffer[0][48] = 1000; /* data, context 1 and up, 8 KB: the service adds to what it finds */
	word("was ", a), say(" 30 3e8\n");
	told(0x80, CONF, a, 0xaa, 0xbb);
	calls(), say_buffer(0);
	clear(0);
	calls(), say_buffer(0);
	told(0x80, CONF, b, 0xaa, 0xbb);
	calls(), say_buffer(0), say_buffer(1);
	told(0x80, CONF, b + 8, 0xaa, 0xbb); /* not aligned */
	told(0x80, INFO, 0, 0, 0);
	calls(), say_buffer(1);
	told(0x80, CONF, b, 0xaa, 0xbb);
	told(0x80, CONF, 0x100000, 0xaa, 0xbb); /* the hypervisor's memory */
	told(0x80, CONF, a, 0xaa, 0xbb);
	told(0x80, CONF, 0x1f10000000, 0xaa, 0xbb);       /* a device */
	told(0x80, CONF, 0x88000000 - 0x1c0, 0xaa, 0xbb); /* beyond the end of 128 MB */
	told(0x80, CONF, 0x88000000 - 0x200, 0xaa, 0xbb);
	told(0x80, CONF, ~0x3ful, 0xaa, 0xbb);
	told(0x80, CONF, a, 0xaa, 0xbb);
	told(0x80, CONF, 0, 0xaa, 0xbb);
	calls(), say_buffer(0), say_buffer(1);
}

static void odd_calls(void)
{
	const struct answer a = fast_xcc(INFO, 0, 0xaa, 0xbb);

	tell(0x80, INFO, 0, 0xaa, 0xbb, &a);
	want("from a delay slot the stub is called, and the branch taken", call_in_delay_slot(), EBADTRAP);
	want("ta 0x80 of user code is a trap of the guest", call_as_user(), 0x99);
}

/* ---- performance registers --------------------------------------------------------------------- */

static int is_pcr(u64 reg)
{
	return reg < 18 ? reg % 2 == 0 : reg % 3 == 0;
}

static u64 selected(u64 reg)
{
	if (reg == 0)
		return 0x2fd << 6 | 6;   /* PIC0: Instr_cnt, of user and system */
	return reg < 18 ? 0x01 : 0x1201; /* reads, writes; cycles, reads to share */
}

static void registers(void)
{
	for (u64 r = 0; r < REGS; r++)
		if (is_pcr(r))
			told(0x80, SET, r, selected(r), 0xbb);
	told(0x80, SET, 1, 3, 0xbb); /* L2: cache to cache */
	for (int i = 0; i < ROUNDS; i++)
		for (u64 r = 0; r < REGS; r++)
			told(0x80, GET, r, 0xaa, 0xbb);
	told(0x80, SET, 3, ~0ul, 0xbb); /* MCU PIC: 31 bits twice */
	told(0x80, GET, 3, 0xaa, 0xbb);
	told(0x80, GET, REGS, 0xaa, 0xbb);
	told(0x80, SET, ~0ul, 0xaa, 0xbb);
	told(0x80, SET, 0, 8, 0xbb); /* HT */
	told(0x80, GET, 0, 0xaa, 0xbb);
	told(0xff, 0, VFALLS, 1, 0);
	told(0x80, GET, 17, 0xaa, 0xbb);
	told(0x80, GET, 18, 0xaa, 0xbb); /* not of 1.0 */
}

void start(void)
{
	say("== guest begins\n");
	for (u64 f = CONF; f <= SET; f++)
		told(0x80, f, 0, 0xaa, 0xbb); /* nothing negotiated */
	version(NOBODY, 1, 0), version(NIAGARA, 2, 0), version(NIAGARA, 1, 5), version(VFALLS, 3, 0),
		version(VFALLS, 1, 7);
	if (told(0xff, 3, NIAGARA, 0, 0).status == EOK)
		statistics(), odd_calls();
	else
		registers();
	version(NIAGARA, 0, 0), version(VFALLS, 0, 0);
	for (u64 f = CONF; f <= SET; f++)
		told(0x80, f, 0, 0xaa, 0xbb);
	leave(failures);
}
