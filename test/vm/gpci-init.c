/*
 * gpci-init.c - process 1 of gpci.sh's guests, alone in its RAM disk: says what the kernel's hv_gpci PMU shows.
 *
 * Prints its sysfs files, then opens each of its events, as perf would, at the indexes that the kernel's command
 * line gives it (processors=0,3 partitions=1 chips=0 and so on), reads it and closes it; then events that no list has
 * (raw=REQUEST/INDEX/SECONDARY/VERSION/OFFSET/LENGTH,...), and switches the machine off.
 *
 *	file NAME TEXT
 *	event NAME REQUEST INDEX SECONDARY VERSION OFFSET LENGTH = COUNT      or - ERRNO
 *
 * No C library: the cross compiler comes without one for this machine.
 */
#include <stdint.h>

#define PMU "/sys/bus/event_source/devices/hv_gpci"
#define EVENTS_MOST 128
#define INDEXES_MOST 16
enum {
	SYS_read = 3,
	SYS_write = 4,
	SYS_open = 5,
	SYS_close = 6,
	SYS_mount = 21,
	SYS_mkdir = 39,
	SYS_reboot = 88,
	SYS_sync = 36,
	SYS_getdents64 = 202,
	SYS_perf_event_open = 319
};
#define REBOOT_MAGIC 0xfee1deadl
#define REBOOT_MAGIC2 672274793l
#define REBOOT_POWER_OFF 0x4321fedcl
#define EFBIG_TEXT 70000

typedef long i64;
typedef unsigned long u64;

static i64 call(i64 number, i64 a, i64 b, i64 c, i64 d, i64 e)
{
	register i64 r0 __asm__("r0") = number, r3 __asm__("r3") = a, r4 __asm__("r4") = b;
	register i64 r5 __asm__("r5") = c, r6 __asm__("r6") = d, r7 __asm__("r7") = e;

	__asm__ volatile("sc\n\tbns+ 1f\n\tneg %1,%1\n1:"
			 : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r7)
			 :
			 : "memory", "cr0", "ctr", "r8", "r9", "r10", "r11", "r12", "xer");
	return r3;
}

void *memset(void *p, int c, u64 n);
void *memset(void *p, int c, u64 n)
{
	for (volatile char *b = p; n; n--)
		*b++ = (char)c;
	return p;
}
void *memcpy(void *to, const void *from, u64 n);
void *memcpy(void *to, const void *from, u64 n)
{
	volatile char *t = to;

	for (const char *f = from; n; n--)
		*t++ = *f++;
	return to;
}

/* ---- text ---------------------------------------------------------------------------------------- */

static u64 length(const char *s)
{
	u64 n = 0;

	while (s[n])
		n++;
	return n;
}

static void say(const char *s)
{
	for (u64 n = length(s); n;) {
		i64 done = call(SYS_write, 1, (i64)s, (i64)n, 0, 0);

		if (done <= 0)
			return;
		s += done;
		n -= (u64)done;
	}
}

static void say_number(i64 v)
{
	char text[24], *p = text + sizeof(text);
	u64 left = v < 0 ? -(u64)v : (u64)v;

	*--p = '\0';
	do {
		*--p = (char)('0' + left % 10);
		left /= 10;
	} while (left);
	if (v < 0)
		*--p = '-';
	say(p);
}

static int starts(const char *s, const char *with)
{
	while (*with)
		if (*s++ != *with++)
			return 0;
	return 1;
}

static char *join(char *to, const char *a, const char *b)
{
	u64 n = length(a), m = length(b);

	memcpy(to, a, n);
	memcpy(to + n, b, m + 1);
	return to;
}

/* A number in C's notation; *s goes behind it. */
static i64 number(const char **s)
{
	const char *p = *s;
	int minus = *p == '-', base = 10;
	i64 v = 0;

	p += minus;
	if (p[0] == '0' && p[1] == 'x') {
		base = 16;
		p += 2;
	}
	for (;; p++) {
		int d = *p >= '0' && *p <= '9'                             ? *p - '0' :
			base == 16 && (*p | 32) >= 'a' && (*p | 32) <= 'f' ? (*p | 32) - 'a' + 10 :
									     -1;

		if (d < 0)
			break;
		v = v * base + d;
	}
	*s = p;
	return minus ? -v : v;
}

/* ---- files ------------------------------------------------------------------------------------------- */

static i64 read_all(const char *path, char *to, u64 room)
{
	i64 n, have = 0, fd = call(SYS_open, (i64)path, 0, 0, 0, 0);

	if (fd < 0)
		return fd;
	while ((n = call(SYS_read, fd, (i64)(to + have), (i64)(room - 1) - have, 0, 0)) > 0)
		have += n;
	call(SYS_close, fd, 0, 0, 0, 0);
	to[have] = '\0';
	return n < 0 ? n : have;
}

/* "file NAME TEXT": line ends inside become '|'. */
static void show(const char *folder, const char *name)
{
	static char text[EFBIG_TEXT], path[512];
	i64 n;

	n = read_all(join(path, join(path, PMU "/", folder), name), text, sizeof(text));
	say("file ");
	say(folder);
	say(name);
	if (n < 0) {
		say(" - ");
		say_number(-n);
	} else {
		for (i64 i = 0; i < n; i++)
			if (text[i] == '\n')
				text[i] = i + 1 < n ? '|' : '\0';
		say(" ");
		say(text);
	}
	say("\n");
}

struct dirent64 {
	uint64_t ino;
	int64_t off;
	uint16_t bytes;
	uint8_t type;
	char name[];
};
#define IS_FILE 8

static u64 list(const char *folder, char (*names)[192], u64 most)
{
	static char room[16384] __attribute__((aligned(8)));
	i64 n, fd = call(SYS_open, (i64)folder, 0, 0, 0, 0);
	u64 have = 0;

	while (fd >= 0 && (n = call(SYS_getdents64, fd, (i64)room, sizeof(room), 0, 0)) > 0)
		for (i64 at = 0; at < n;) {
			const struct dirent64 *d = (const void *)(room + at);

			if (d->type == IS_FILE && have < most && length(d->name) < 192)
				join(names[have++], d->name, "");
			at += d->bytes;
		}
	call(SYS_close, fd, 0, 0, 0, 0);
	return have;
}

static char names[EVENTS_MOST][192];

static void show_folder(const char *folder)
{
	char path[256];
	u64 n = list(join(path, PMU "/", folder), names, EVENTS_MOST);

	for (u64 i = 0; i < n; i++)
		show(folder, names[i]);
}

/* ---- events -------------------------------------------------------------------------------------------- */

struct ask {
	i64 request, index, secondary, version, offset, bytes;
};
static const char *type_text; /* of the PMU */

static void open_event(const char *name, const struct ask *a)
{
	struct {
		uint32_t type, size;
		uint64_t config, period, sample, format, flags, wakeup, config1;
	} attr = { .size = 64 };
	const i64 v[] = { a->request, a->index, a->secondary, a->version, a->offset, a->bytes };
	const char *type = type_text;
	i64 fd, count = 0;

	attr.type = (uint32_t)number(&type);
	attr.config = (uint32_t)a->request | (uint64_t)a->index << 32;
	attr.config1 = (uint64_t)(a->secondary & 0xffff) | (uint64_t)a->version << 16 | (uint64_t)a->bytes << 24 |
		       (uint64_t)a->offset << 32;
	fd = call(SYS_perf_event_open, (i64)&attr, -1, 0, -1, 0);
	if (fd >= 0) {
		i64 n = call(SYS_read, fd, (i64)&count, sizeof(count), 0, 0);

		call(SYS_close, fd, 0, 0, 0, 0);
		if (n != sizeof(count))
			fd = n < 0 ? n : -5;
	}
	say("event ");
	say(name);
	for (u64 i = 0; i < sizeof(v) / sizeof(*v); i++) {
		say(" ");
		say_number(v[i]);
	}
	say(fd < 0 ? " - " : " = ");
	say_number(fd < 0 ? -fd : count);
	say("\n");
}

/* "request=0x10,phys_processor_idx=?,counter_info_version=0x8,length=8,offset=0"; returns where the word of '?' is. */
static const char *terms(const char *text, struct ask *a)
{
	const char *open = 0;

	*a = (struct ask){ .index = -1 };
	while (*text && *text != '\n') {
		const char *value = text;

		while (*value && *value != '=')
			value++;
		value += *value == '=';
		if (*value == '?') {
			open = starts(text, "secondary_index") ? open : text;
			value++;
		} else if (starts(text, "request=")) {
			a->request = number(&value);
		} else if (starts(text, "counter_info_version=")) {
			a->version = number(&value);
		} else if (starts(text, "length=")) {
			a->bytes = number(&value);
		} else if (starts(text, "offset=")) {
			a->offset = number(&value);
		} else if (starts(text, "secondary_index=")) {
			a->secondary = number(&value);
		} else {
			a->index = number(&value);
		}
		text = value + (*value == ',');
	}
	return open;
}

/* The value of NAME=... among the kernel's words; indexes that were given. */
static const char *word(char *const *env, const char *name)
{
	for (; *env; env++)
		if (starts(*env, name) && (*env)[length(name)] == '=')
			return *env + length(name) + 1;
	return 0;
}

static void each_index(char *const *env, const char *name, const char *open, struct ask *a)
{
	const char *list = word(env, starts(open, "phys_processor_idx") ? "processors" :
				     starts(open, "hw_chip_id")         ? "chips" :
									  "partitions");

	while (list && *list) {
		a->index = number(&list);
		open_event(name, a);
		list += *list == ',';
	}
}

static void events(char *const *env)
{
	static char text[4096], path[512];
	u64 n = list(PMU "/events", names, EVENTS_MOST);

	for (u64 i = 0; i < n; i++) {
		struct ask a;
		const char *open;

		if (read_all(join(path, PMU "/events/", names[i]), text, sizeof(text)) < 0)
			continue;
		open = terms(text, &a);
		if (open)
			each_index(env, names[i], open, &a);
		else
			open_event(names[i], &a);
	}
}

static void raw_events(const char *list)
{
	while (list && *list) {
		i64 v[6] = { 0 };

		for (u64 i = 0; i < 6; i++) {
			v[i] = number(&list);
			list += *list == '/';
		}
		open_event("raw", &(struct ask){ v[0], v[1], v[2], v[3], v[4], v[5] });
		list += *list == ',';
	}
}

__attribute__((noreturn, used)) void begin(i64 *stack)
{
	static char type[32], version[256];
	char *const *env = (char *const *)(stack + 1 + stack[0] + 1);

	call(SYS_mkdir, (i64) "/proc", 0755, 0, 0, 0);
	call(SYS_mkdir, (i64) "/sys", 0755, 0, 0, 0);
	call(SYS_mount, (i64) "proc", (i64) "/proc", (i64) "proc", 0, 0);
	call(SYS_mount, (i64) "sys", (i64) "/sys", (i64) "sysfs", 0, 0);
	say("\n== guest begins\n");
	if (read_all("/proc/version", version, sizeof(version)) > 0)
		say(version);
	if (read_all(PMU "/type", type, sizeof(type)) < 0) {
		say("no PMU\n");
	} else {
		type_text = type;
		show("", "type");
		show("", "cpumask");
		show_folder("interface/");
		show_folder("format/");
		show_folder("events/");
		events(env);
		raw_events(word(env, "raw"));
	}
	say("== guest ends\n");
	call(SYS_sync, 0, 0, 0, 0, 0);
	call(SYS_reboot, REBOOT_MAGIC, REBOOT_MAGIC2, REBOOT_POWER_OFF, 0, 0);
	for (;;)
		;
}

__asm__(".globl _start\n_start:\n\taddis 2,12,.TOC.-_start@ha\n\taddi 2,2,.TOC.-_start@l\n\tmr 3,1\n\tli 0,0\n\tstdu 0,-64(1)\n\tbl begin\n");
