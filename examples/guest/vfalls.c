/* vfalls.c: version negotiation and performance registers (vf_perf_api.txt), from a guest's own code. */
#include "sun4v.h"

enum {
	GET = 0x106,
	SET = 0x107,
	VFALLS = 0x205,
	SPARC_PCR = 0,
	L2_CR = 1,
	MCU_PCR = 2,
	MCU_PIC = 3,
	LPU_PCR = 18,
	MOST = 89
};
enum { PCR_HT = 8 };

static void versions(void)
{
	struct answer a;

	want("a call before negotiation", fast(GET, 0, 0, 0).status, EBADTRAP);
	a = set_version(VFALLS, 1, 0);
	want("version 1.0", a.status, EOK);
	want("is granted as such", a.r1, 0);
	want("and has no Zambezi", fast(GET, LPU_PCR, 0, 0).status, ENOTSUPPORTED);
	a = set_version(VFALLS, 1, 7);
	want("version 1.7", a.status, EOK);
	want("is 1.1", a.r1, 1);
	a = get_version(VFALLS);
	want("major", a.r1, 1);
	want("minor", a.r2, 1);
}

static void kept(u64 reg, u64 value, u64 mask)
{
	struct answer a;

	want("set", fast(SET, reg, value, 0).status, EOK);
	a = fast(GET, reg, 0, 0);
	want("get", a.status, EOK);
	want("the bits that there are", a.r1, value & mask);
}

static void registers(void)
{
	struct answer a;

	kept(L2_CR, 3, 3);
	kept(L2_CR, 0, 3);
	kept(MCU_PCR, 0x1ff, 0xff);
	kept(LPU_PCR, 0x0101, 0x3f3f);
	a = fast(GET, MOST + 1, 0x1234, 0);
	want("no such register", a.status, EINVAL);
	want("an error touches %o0 only", a.r1, 0x1234);
	want("HT", fast(SET, SPARC_PCR, PCR_HT, 0).status, EOK);
	want("HT is there", fast(GET, SPARC_PCR, 0, 0).r1 & PCR_HT, PCR_HT);
}

static void counting(void)
{
	u64 from, to = 0;

	want("clear", fast(SET, MCU_PIC, 0, 0).status, EOK);
	want("select reads and writes", fast(SET, MCU_PCR, 0x01, 0).status, EOK);
	from = fast(GET, MCU_PIC, 0, 0).r1;
	for (int i = 0; i < 2000 && to <= from; i++)
		to = fast(GET, MCU_PIC, 0, 0).r1;
	want("memory was read", to > from, 1);
	want("MMU statistics are of other machines", fast(0x102, 0, 0, 0).status, EBADTRAP);
}

void start(void)
{
	versions();
	registers();
	counting();
	say(failures ? "vfalls: not as specified\n" : "vfalls: as specified\n");
	leave(failures);
}
