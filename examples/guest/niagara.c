/* niagara.c: version negotiation and MMU statistics (mmustat.txt), from a guest's own code. */
#include "sun4v.h"

enum { CONF = 0x102, INFO = 0x103, NIAGARA = 0x200, VFALLS = 0x205 };

static u64 buffer[2][64] __attribute__((aligned(64)));

static void versions(void)
{
	struct answer a;

	want("a call before negotiation", fast(INFO, 0, 0, 0).status, EBADTRAP);
	want("an unknown group", set_version(0x7777, 1, 0).status, EINVAL);
	want("an unknown major", set_version(NIAGARA, 9, 0).status, ENOTSUPPORTED);
	want("Victoria Falls' group on a Niagara", set_version(VFALLS, 1, 0).status, EINVAL);
	a = get_version(NIAGARA);
	want("a group nobody asked for", a.status, EOK);
	want("its major", a.r1, 0);
	a = set_version(NIAGARA, 1, 9);
	want("a minor too high", a.status, EOK);
	want("is clamped", a.r1, 0);
	a = get_version(NIAGARA);
	want("what was granted", a.status, EOK);
	want("major", a.r1, 1);
	want("minor", a.r2, 0);
}

static u64 sum(const u64 *b)
{
	u64 n = 0;

	for (int i = 0; i < 64; i++)
		n += b[i];
	return n;
}

static void statistics(void)
{
	const u64 at = (u64)buffer[0];
	struct answer a;

	a = fast(INFO, 0, 0, 0);
	want("no buffer yet", a.r1, 0);
	want("not aligned", fast(CONF, at + 8, 0, 0).status, EBADALIGN);
	want("no memory", fast(CONF, 0x40, 0, 0).status, ENORADDR);
	a = fast(CONF, at, 0, 0);
	want("a buffer", a.status, EOK);
	want("and none before", a.r1, 0);
	a = fast(INFO, 0, 0, 0);
	want("is the buffer", a.r1, at);
	for (int i = 0; i < 2000 && !sum(buffer[0]); i++)
		fast(INFO, 0, 0, 0);
	want("misses were counted", sum(buffer[0]) != 0, 1);
	a = fast(CONF, (u64)buffer[1], 0, 0);
	want("another buffer gives the first back", a.r1, at);
	const u64 before = sum(buffer[0]);
	for (int i = 0; i < 200; i++)
		fast(INFO, 0, 0, 0);
	want("which is let alone then", sum(buffer[0]), before);
	a = fast(CONF, 0, 0, 0);
	want("off", a.status, EOK);
	want("gives the second back", a.r1, (u64)buffer[1]);
	want("performance registers are of other machines", fast(0x106, 0, 0, 0).status, EBADTRAP);
}

void start(void)
{
	versions();
	statistics();
	want("disabled", set_version(NIAGARA, 0, 0).status, EOK);
	want("is gone", fast(INFO, 0, 0, 0).status, EBADTRAP);
	say(failures ? "niagara: not as specified\n" : "niagara: as specified\n");
	leave(failures);
}
