/*
 * sysfs_tree.c: the files of a PTT device, as Linux shows those of the genuine one.
 *
 *	hisi_ptt0_2/type, cpumask                       444
 *	            perf_event_mux_interval_ms          644
 *	            format/filter, direction, type, format                444
 *	            tune/qos_tx_cpl ...                 600   the device's registers, by tally's driver
 *	            root_port_filters/multiselect, 0000:00:10.0 ...       400
 *	            requester_filters/multiselect, 0000:01:00.0 ...       400
 *
 * Nothing is kept of what the machine knows: an entry is looked for when it is
 * asked for, so files come and go with the functions that they stand for.  The number of an
 * entry says where it is: the device, its directory, the row or the function.  Numbers
 * grow in the order in which a directory is listed, so a listing goes on behind
 * the last entry that was seen, whatever has come or gone since.
 *
 * `type` is a number that no PMU of the running kernel has: perf does not know the
 * model, and must not take another PMU for it.
 *
 * A device that was given to a vfio-user client (kunpeng_given) is shown, but its tunables are
 * busy: its registers are that client's driver's.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/sysfs_int.h"

#define MUX_MS 4          /* of a kernel with 250 ticks a second */
#define NO_PMU (1u << 20) /* a kernel numbers its PMUs one by one */

/* ---- numbers: device + 1, directory of it, entry of that --------------------------------- */
enum { DIR_OWN, DIR_FORMAT, DIR_TUNE, DIR_PORTS, DIR_REQUESTERS, DIRS };
#define DEVICE_SHIFT 48
#define DIR_SHIFT 40
#define ENTRY(number) ((number) & ((UINT64_C(1) << DIR_SHIFT) - 1))
#define MULTISELECT 1u /* before all functions, which begin at: */
#define FUNCTION 2u

struct row {
	const char *name;
	uint16_t mode;
	const char *text;
};
enum { OWN_TYPE, OWN_CPUMASK, OWN_MUX };
static const struct row own[] = {
	[OWN_TYPE] = { "type", 0444, NULL },
	[OWN_CPUMASK] = { "cpumask", 0444, NULL },
	[OWN_MUX] = { "perf_event_mux_interval_ms", 0644, NULL },
};
static const struct row format[] = {
	{ "filter", 0444, "config:0-19" },
	{ "direction", 0444, "config:20-23" },
	{ "type", 0444, "config:24-31" },
	{ "format", 0444, "config:32-35" },
};
static const char *const dirs[DIRS] = {
	[DIR_FORMAT] = "format",
	[DIR_TUNE] = "tune",
	[DIR_PORTS] = "root_port_filters",
	[DIR_REQUESTERS] = "requester_filters",
};

static uint64_t number_of(uint32_t device, uint32_t dir, uint64_t entry)
{
	return (uint64_t)(device + 1) << DEVICE_SHIFT | (uint64_t)dir << DIR_SHIFT | entry;
}
static uint32_t dir_of(uint64_t number)
{
	return number >> DIR_SHIFT & 0xff;
}
static bool has_device(const struct sysfs *s, uint64_t number, uint32_t *ret)
{
	*ret = (uint32_t)(number >> DEVICE_SHIFT) - 1;
	return *ret < s->n && dir_of(number) < DIRS;
}

/* "0000:00:10.0": domain, bus, device and function in 32 bits. */
static uint64_t function_of(const char *name)
{
	unsigned domain = 0, bus = 0, slot = 0, function = 0;

	sscanf(name, "%x:%x:%x.%x", &domain, &bus, &slot, &function);
	return FUNCTION + ((uint64_t)(domain & 0xffff) << 16 | (bus & 0xff) << 8 | (slot & 0x1f) << 3 | (function & 7));
}

/* ---- what is in a directory ------------------------------------------------------------------ */

static bool tree_node_found(struct sysfs_node *ret, uint64_t number, uint64_t parent, const char *name, uint16_t mode)
{
	*ret = (struct sysfs_node){ .number = number, .parent = parent, .mode = mode };
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	return true;
}

static bool found_dir(struct sysfs_node *ret, uint64_t number, uint64_t parent, const char *name, uint32_t ndirs)
{
	tree_node_found(ret, number, parent, name, 0755);
	ret->dir = true;
	ret->ndirs = ndirs;
	return true;
}

static bool next_device(const struct sysfs *s, uint64_t after, struct sysfs_node *ret)
{
	const uint64_t i = after >> DEVICE_SHIFT;

	return i < s->n && found_dir(ret, number_of((uint32_t)i, DIR_OWN, 0), SYSFS_ROOT,
				     kunpeng_pmu(s->k, (uint32_t)i)->name, DIRS - 1);
}

/* Of a device's own directory: its files, then its directories. */
static bool next_own(uint32_t device, uint64_t after, struct sysfs_node *ret)
{
	const uint64_t self = number_of(device, DIR_OWN, 0), seen = after < self ? 0 : after - self;
	const uint64_t dir = (seen >> DIR_SHIFT) + 1;

	if (seen < COUNT(own))
		return tree_node_found(ret, self + seen + 1, self, own[seen].name, own[seen].mode);
	return dir < DIRS && found_dir(ret, number_of(device, (uint32_t)dir, 0), self, dirs[dir], 0);
}

static bool next_row(uint64_t dir, uint64_t after, struct sysfs_node *ret)
{
	const uint64_t i = after < dir ? 0 : after - dir;

	if (dir_of(dir) == DIR_TUNE)
		return i < PTT_TUNES && tree_node_found(ret, dir + i + 1, dir, ptt_tunables[i].name, 0600);
	return i < COUNT(format) && tree_node_found(ret, dir + i + 1, dir, format[i].name, format[i].mode);
}

static const struct ptt_filter *next_filter(const struct ptt_pmu *pmu, bool port, uint64_t after)
{
	const struct ptt_filter *ret = NULL;

	for (const struct ptt_filter *f = pmu->filter; f < pmu->filter + pmu->nfilters; f++)
		if (f->port == port && function_of(f->name) > after &&
		    (!ret || function_of(f->name) < function_of(ret->name)))
			ret = f;
	return ret;
}

static bool next_of_filters(const struct sysfs *s, uint32_t device, uint64_t dir, uint64_t after,
			    struct sysfs_node *ret)
{
	const uint64_t seen = after < dir ? 0 : after - dir;
	const struct ptt_filter *f;

	if (seen < MULTISELECT)
		return tree_node_found(ret, dir + MULTISELECT, dir, "multiselect", 0400);
	f = next_filter(kunpeng_pmu(s->k, device), dir_of(dir) == DIR_PORTS, seen);
	return f && tree_node_found(ret, dir + function_of(f->name), dir, f->name, 0400);
}

bool sysfs_next(const struct sysfs *s, uint64_t dir, uint64_t after, struct sysfs_node *ret)
{
	uint32_t device;

	if (dir == SYSFS_ROOT)
		return next_device(s, after, ret);
	if (!has_device(s, dir, &device) || ENTRY(dir))
		return false;
	switch (dir_of(dir)) {
	case DIR_OWN:
		return next_own(device, after, ret);
	case DIR_FORMAT:
	case DIR_TUNE:
		return next_row(dir, after, ret);
	default:
		return next_of_filters(s, device, dir, after, ret);
	}
}

bool sysfs_find(const struct sysfs *s, uint64_t dir, const char *name, struct sysfs_node *ret)
{
	for (uint64_t after = 0; sysfs_next(s, dir, after, ret); after = ret->number)
		if (!strcmp(ret->name, name))
			return true;
	return false;
}

static uint64_t parent_of(uint64_t number)
{
	if (ENTRY(number))
		return number - ENTRY(number);
	return dir_of(number) ? number - ((uint64_t)dir_of(number) << DIR_SHIFT) : SYSFS_ROOT;
}

bool sysfs_at(const struct sysfs *s, uint64_t number, struct sysfs_node *ret)
{
	if (number == SYSFS_ROOT)
		return found_dir(ret, SYSFS_ROOT, SYSFS_ROOT, "", s->n);
	return number > SYSFS_ROOT && sysfs_next(s, parent_of(number), number - 1, ret) && ret->number == number;
}

/* ---- what is in a file ------------------------------------------------------------------------- */

static int tree_text_format(char text[static SYSFS_TEXT], const char *fmt, ...) PRINTF_LIKE(2, 3);
static int tree_text_format(char text[static SYSFS_TEXT], const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, SYSFS_TEXT, fmt, ap);
	va_end(ap);
	return n < SYSFS_TEXT ? n : SYSFS_TEXT - 1;
}

static int read_own(const struct sysfs *s, uint32_t device, uint64_t row, char text[static SYSFS_TEXT])
{
	const struct ptt_pmu *pmu = kunpeng_pmu(s->k, device);

	switch (row) {
	case OWN_TYPE:
		return tree_text_format(text, "%u\n", pmu->type ? pmu->type : NO_PMU + device);
	case OWN_CPUMASK:
		return tree_text_format(text, "%.*s\n", SYSFS_TEXT - 2, pmu->cpus);
	default:
		return tree_text_format(text, "%d\n", s->device[device].mux_ms);
	}
}

/* As the driver has it: one that doesn't answer has timed out. */
static int errno_of(int rc)
{
	return rc == -TALLY_EBUSY ? -ETIMEDOUT : rc == -TALLY_EINVAL ? -EINVAL : -EIO;
}

static int read_tune(struct sysfs *s, uint32_t device, enum ptt_tune t, char text[static SYSFS_TEXT])
{
	uint32_t value = 0;
	int rc;

	if (kunpeng_given(s->k, device))
		return -EBUSY;
	rc = ptt_driver_tune_get(s->device[device].tuner, t, &value, NULL);
	return rc < 0 ? errno_of(rc) : tree_text_format(text, "%u\n", value);
}

static int read_filter(const struct sysfs *s, uint32_t device, bool port, const struct sysfs_node *n,
		       char text[static SYSFS_TEXT])
{
	const struct ptt_pmu *pmu = kunpeng_pmu(s->k, device);

	if (ENTRY(n->number) == MULTISELECT)
		return tree_text_format(text, "%d\n", port);
	for (uint32_t i = 0; i < pmu->nfilters; i++)
		if (pmu->filter[i].port == port && !strcmp(pmu->filter[i].name, n->name))
			return tree_text_format(text, "0x%05x\n", pmu->filter[i].value);
	return -ENODEV;
}

int sysfs_read(struct sysfs *s, uint64_t number, char text[static SYSFS_TEXT])
{
	struct sysfs_node n;
	uint32_t device;

	if (!sysfs_at(s, number, &n))
		return -ENODEV;
	if (n.dir || !has_device(s, number, &device))
		return -EISDIR;
	switch (dir_of(number)) {
	case DIR_OWN:
		return read_own(s, device, ENTRY(number) - 1, text);
	case DIR_FORMAT:
		return tree_text_format(text, "%s\n", format[ENTRY(number) - 1].text);
	case DIR_TUNE:
		return read_tune(s, device, (enum ptt_tune)(ENTRY(number) - 1), text);
	default:
		return read_filter(s, device, dir_of(number) == DIR_PORTS, &n, text);
	}
}

/* ---- what is written ------------------------------------------------------------------------------- */

/* What was written, as far as its first NUL and without one newline at its end: all that the kernel's own readers of
 * numbers let pass. False: too long for a number. */
static bool line_of(const char *p, size_t n, char text[static SYSFS_TEXT])
{
	n = strnlen(p, n);
	if (n && p[n - 1] == '\n')
		n--;
	if (n >= SYSFS_TEXT)
		return false;
	memcpy(text, p, n);
	text[n] = '\0';
	return true;
}

static int write_tune(struct sysfs *s, uint32_t device, enum ptt_tune t, const char *text)
{
	char *end;
	unsigned long v;
	int rc;

	text += *text == '+';
	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	v = strtoul(text, &end, 10);
	if (*end || errno || v > UINT16_MAX)
		return -EINVAL; /* the driver has no other word for it */
	if (kunpeng_given(s->k, device))
		return -EBUSY;
	rc = ptt_driver_tune_set(s->device[device].tuner, t, (uint32_t)v, NULL);
	return rc < 0 ? errno_of(rc) : 0;
}

static int write_mux(struct sysfs_device *d, const char *text)
{
	const char *digits = text + (*text == '+' || *text == '-');
	char *end;
	long v;

	if (!isdigit((unsigned char)*digits))
		return -EINVAL;
	errno = 0;
	v = strtol(text, &end, 0);
	if (*end)
		return -EINVAL;
	if (errno || v > INT_MAX || v < INT_MIN)
		return -ERANGE;
	if (v < 1)
		return -EINVAL;
	d->mux_ms = (int)v;
	return 0;
}

int sysfs_write(struct sysfs *s, uint64_t number, const char *p, size_t n)
{
	const size_t taken = n < SYSFS_PAGE ? n : SYSFS_PAGE;
	char text[SYSFS_TEXT];
	struct sysfs_node node;
	uint32_t device;
	int rc;

	if (!sysfs_at(s, number, &node))
		return -ENODEV;
	if (!(node.mode & 0200) || node.dir || !has_device(s, number, &device))
		return node.dir ? -EISDIR : -EACCES;
	if (!line_of(p, taken, text))
		return -EINVAL;
	rc = dir_of(number) == DIR_TUNE ? write_tune(s, device, (enum ptt_tune)(ENTRY(number) - 1), text) :
					  write_mux(&s->device[device], text);
	return rc < 0 ? rc : (int)taken;
}

/* ---- the devices' drivers ----------------------------------------------------------------------------- */

static int reg_read(void *arg, uint32_t off, uint32_t *value, struct err *e)
{
	(void)e;
	*value = ptt_dev_read(arg, off);
	return 0;
}

/* Only what tunes: the trace's registers may be another server's. */
static int reg_write(void *arg, uint32_t off, uint32_t value, struct err *e)
{
	(void)e;
	if (off == PTT_REG_TUNING_CTRL || off == PTT_REG_TUNING_DATA)
		ptt_dev_write(arg, off, value);
	return 0;
}

int sysfs_open(struct sysfs *s, struct kunpeng *k, struct err *e)
{
	const uint32_t n = kunpeng_ndevices(k);
	int rc = 0;

	s->k = k;
	for (uint32_t i = 0; rc == 0 && i < n && i < PTT_PMU_MOST; i++) {
		struct sysfs_device *d = &s->device[i];
		const struct ptt_regs regs = { kunpeng_device(k, i), reg_read, reg_write, NULL };

		d->mux_ms = MUX_MS;
		rc = ptt_driver_open(&d->tuner, &regs, NULL, 0, e);
		s->n = i + 1;
	}
	return rc;
}

void sysfs_close(struct sysfs *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		ptt_driver_close(s->device[i].tuner);
}
