/*
 * sun4v.h: a guest's side of the hypervisor, for images of `tally machine --run`.
 *
 * Calling convention (sun4v core API): the function in %o5, arguments in %o0 to %o4, then `ta 0x80` (FAST_TRAP) or
 * `ta 0xff` (CORE_TRAP); the status comes in %o0 and results in %o1 and %o2.
 */
typedef unsigned char u8;
typedef unsigned long u64;

enum { EOK = 0, ENORADDR = 2, EINVAL = 6, EBADTRAP = 7, EBADALIGN = 8, ENOACCESS = 10, ENOTSUPPORTED = 13 };

struct answer {
	u64 status, r1, r2;
};

#define HV_TRAP(name, number)                                                                                     \
	static inline struct answer name(u64 function, u64 a0, u64 a1, u64 a2)                                    \
	{                                                                                                         \
		register u64 o0 __asm__("o0") = a0, o1 __asm__("o1") = a1, o2 __asm__("o2") = a2;                 \
		register u64 o5 __asm__("o5") = function;                                                         \
                                                                                                                  \
		__asm__ volatile("ta " number : "+r"(o0), "+r"(o1), "+r"(o2), "+r"(o5) : : "memory", "o3", "o4"); \
		return (struct answer){ o0, o1, o2 };                                                             \
	}
HV_TRAP(fast, "0x80")
HV_TRAP(core, "0xff")

static inline struct answer set_version(u64 group, u64 major, u64 minor)
{
	return core(0, group, major, minor);
}
static inline struct answer get_version(u64 group)
{
	return core(3, group, 0, 0);
}

static void say(const char *s)
{
	while (*s)
		core(1, (u8)*s++, 0, 0);
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
static inline void __attribute__((noreturn)) leave(u64 status)
{
	core(2, status, 0, 0);
	for (;;)
		;
}

/* Checks that say what differs; the run's status is how many did. */
static u64 failures;
static void want(const char *what, u64 is, u64 wanted)
{
	if (is == wanted)
		return;
	failures++;
	say(what), say(": 0x"), say_hex(is), say(", not 0x"), say_hex(wanted), say("\n");
}
