/*
 * power.c: H_GetPerformanceCounterInfo (papr_gpci.txt), from a partition's own code.
 *
 * Calling convention: the token in r3, arguments in r4 and on, then `sc 1`; the code comes in r3.
 */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;

enum { H_PUT_TERM_CHAR = 0x58, H_CEDE = 0xe0, GPCI = 0xf080 };
enum { H_SUCCESS = 0, H_FUNCTION = -2, H_PRIVILEGE = -3, H_PARAMETER = -4, BUF_TOO_SMALL = 0x1b };

static long hcall(u64 token, u64 a, u64 b, u64 c, u64 d)
{
	register u64 r3 __asm__("r3") = token, r4 __asm__("r4") = a, r5 __asm__("r5") = b, r6 __asm__("r6") = c,
			r7 __asm__("r7") = d;

	__asm__ volatile("sc 1"
			 : "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r7)
			 :
			 : "memory", "r0", "r8", "r9", "r10", "r11", "r12", "cr0", "ctr", "xer");
	return (long)r3;
}

static void say(const char *s)
{
	for (; *s; s++)
		hcall(H_PUT_TERM_CHAR, 0, 1, (u64)(u8)*s << 56, 0);
}
static void say_hex(u64 v)
{
	char digit[17], *p = digit + 16;

	*p = '\0';
	do
		*--p = "0123456789abcdef"[v & 15];
	while (v >>= 4);
	say(p);
}

static u64 failures;
static void want(const char *what, u64 is, u64 wanted)
{
	if (is == wanted)
		return;
	failures++;
	say(what), say(": 0x"), say_hex(is), say(", not 0x"), say_hex(wanted), say("\n");
}

static struct { /* big-endian, as this code is */
	u32 request;
	int index;
	u16 secondary, returned;
	u32 detail;
	u16 element;
	u8 version_in, version_out;
	u8 reserved[12];
	u8 record[4096 - 32];
} block __attribute__((aligned(4096)));

static long ask(u32 request, int index, u64 size)
{
	block.request = request;
	block.index = index;
	block.secondary = 0;
	block.version_in = 8;
	return hcall(GPCI, (u64)&block, size, 0, 0);
}

static u64 be(const u8 *p, int bytes)
{
	u64 v = 0;

	while (bytes--)
		v = v << 8 | *p++;
	return v;
}

void start(u64 base, u64 bytes)
{
	u64 before, after;

	want("memory begins", base, 0);
	want("an unknown token", (u64)hcall(0x7777000, 0, 0, 0, 0), (u64)(long)H_FUNCTION);
	want("a reserved one", (u64)hcall(0xf07c, 0, 0, 0, 0), (u64)(long)H_FUNCTION);
	want("no memory", (u64)hcall(GPCI, base + bytes, 4096, 0, 0), (u64)(long)H_PRIVILEGE);
	want("too small", (u64)ask(0x10, 0, 16), (u64)(long)H_PARAMETER);
	want("capabilities", (u64)ask(0x40, -1, 4096), H_SUCCESS);
	want("one record", block.returned, 1);
	want("more processors than fit", (u64)ask(0x10, 0, 4096), (u64)(long)H_PARAMETER);
	want("because of that", block.detail, BUF_TOO_SMALL);
	want("some records", block.returned > 1, 1);
	want("of processor 0", be(block.record, 4), 0);
	want("the entitlement of partition 1", (u64)ask(0x20, 1, 4096), H_SUCCESS);
	before = be(block.record + 8, 8);
	for (int i = 0; i < 100; i++)
		ask(0x20, 1, 4096);
	after = be(block.record + 8, 8);
	want("grows", after > before, 1);
	say(failures ? "power: not as specified\n" : "power: as specified\n");
	hcall(H_CEDE, failures, 0, 0, 0);
	for (;;)
		;
}
