/*
 * pmu.c: the PMUs that the kernel knows and how their events are written.
 *
 * A PMU is a folder of /sys/bus/event_source/devices with the files
 *
 *	type            number for perf_event_attr.type
 *	cpus, cpumask   CPUs that it counts on ("0-7,16"); `cpus` says: a core PMU
 *	format/NAME     where the field NAME lies: "config:0-7,32-35", "config1:0-63"
 *	events/NAME     an event as terms of those fields: "event=0xcd,umask=0x1,ldlat=3"
 *
 * (Documentation/ABI/testing/sysfs-bus-event_source-devices-format and -events).
 * A field may be split: its low bits go to the first range.  A value that does
 * not fit its field is refused, never cut.  Names become parts of paths, so one
 * with a '/' or a leading '.' is no name at all.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/kernel.h"

#define DEVICES "bus/event_source/devices"
#define MAX_PMUS 4096

/* ---- small files ---------------------------------------------------------- */

/* First line of a file of at most n - 1 bytes: its length, or -1 when there is none or it is
 * longer. */
static int read_line(const char *path, char *to, size_t n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return -1;
	got = read(fd, to, n);
	close(fd);
	if (got < 0 || (size_t)got == n)
		return -1;
	to[got] = 0;
	to[strcspn(to, "\n")] = 0;
	return (int)strlen(to);
}

/* root/bus/event_source/devices/PMU/file; false when it does not fit. */
static bool pmu_path(char *to, size_t n, const char *root, const char *pmu, const char *file)
{
	int len = snprintf(to, n, "%s/" DEVICES "/%s/%s", root ? root : "/sys", pmu, file);

	return len > 0 && (size_t)len < n;
}

static int read_pmu_file(const char *root, const char *pmu, const char *file, char *to, size_t n)
{
	char path[1024];

	return pmu_path(path, sizeof(path), root, pmu, file) ? read_line(path, to, n) : -1;
}

static bool is_name(const char *s)
{
	return *s && *s != '.' && !strchr(s, '/');
}

/* ---- the list --------------------------------------------------------------- */

/* Fills *p; 0 when it is no PMU that could be opened (no type, an endless CPU list). */
static int read_pmu(const char *root, const char *name, struct k_pmu *p)
{
	char text[64];
	uint64_t type;

	if (!is_name(name) || strlen(name) >= sizeof(p->name))
		return 0;
	if (read_pmu_file(root, name, "type", text, sizeof(text)) < 0 || !text_u64(text, &type) || type > UINT32_MAX)
		return 0;
	memset(p, 0, sizeof(*p));
	strcpy(p->name, name);
	p->type = (uint32_t)type;
	/* "cpu" is the core PMU of x86, POWER and others, "cpum_cf" that of s390; both without
	 * `cpus`. */
	p->core = !strcmp(name, "cpu") || !strcmp(name, "cpum_cf");
	if (read_pmu_file(root, name, "cpus", p->cpus, sizeof(p->cpus)) > 0)
		p->core = true;
	else if (read_pmu_file(root, name, "cpumask", p->cpus, sizeof(p->cpus)) < 0)
		p->cpus[0] = 0;
	return 1;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct k_pmu *)a)->name, ((const struct k_pmu *)b)->name);
}

int k_pmus(const char *root, struct k_pmu **ret, uint32_t *n, struct err *e)
{
	struct k_pmu *v = NULL, p;
	uint32_t count = 0, cap = 0;
	char path[1024];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/" DEVICES, root ? root : "/sys");
	dir = opendir(path);
	if (!dir)
		return err_set(e, TALLY_EIO, "cannot read %s: %m", path);
	while ((d = readdir(dir)) && count < MAX_PMUS) {
		struct k_pmu *slot;

		if (!read_pmu(root, d->d_name, &p))
			continue;
		slot = VEC_NEW(v, count, cap);
		if (!slot) {
			closedir(dir);
			mem_free(v);
			return err_oom(e);
		}
		*slot = p;
	}
	closedir(dir);
	if (count)
		qsort(v, count, sizeof(*v), by_name);
	*ret = v;
	*n = count;
	return 0;
}

/* ---- names -------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int k_pmu_names(const char *root, const struct k_pmu *pmu, bool formats, struct arena *a, const char ***ret,
		uint32_t *n)
{
	const char **v = NULL, **copy;
	uint32_t count = 0, cap = 0;
	char path[1024];
	struct dirent *d;
	DIR *dir;

	*ret = NULL;
	*n = 0;
	if (!pmu_path(path, sizeof(path), root, pmu->name, formats ? "format" : "events"))
		return 0;
	dir = opendir(path);
	if (!dir)
		return 0; /* a PMU without named events is a PMU all the same */
	while ((d = readdir(dir))) {
		const char **slot;

		/* NAME.scale, NAME.unit and the like say more of an event; they are none. */
		if (strchr(d->d_name, '.'))
			continue;
		slot = VEC_NEW(v, count, cap);
		if (!slot || !(*slot = arena_strdup(a, d->d_name)))
			goto nomem;
	}
	closedir(dir);
	copy = arena_alloc(a, (count + 1) * sizeof(*copy));
	if (!copy) {
		mem_free(v);
		return -TALLY_ENOMEM;
	}
	if (count) {
		qsort(v, count, sizeof(*v), by_text);
		memcpy(copy, v, count * sizeof(*v));
	}
	mem_free(v);
	*ret = copy;
	*n = count;
	return 0;
nomem:
	closedir(dir);
	mem_free(v);
	return -TALLY_ENOMEM;
}

/* ---- terms ---------------------------------------------------------------------- */

static uint64_t *config_word(struct k_event *ev, const char *name, size_t len)
{
	if (len == 6 && !memcmp(name, "config", 6))
		return &ev->config;
	if (len != 7 || memcmp(name, "config", 6))
		return NULL;
	return name[6] == '1' ? &ev->config1 : name[6] == '2' ? &ev->config2 : name[6] == '3' ? &ev->config3 : NULL;
}

/* Next "lo" or "lo-hi" of a format's ranges; false when it is none or leaves 64 bits. */
static bool next_range(const char **p, unsigned *lo, unsigned *hi)
{
	char *end;
	unsigned long a, b;

	if (**p < '0' || **p > '9')
		return false;
	a = b = strtoul(*p, &end, 10);
	if (*end == '-') {
		if (end[1] < '0' || end[1] > '9')
			return false;
		b = strtoul(end + 1, &end, 10);
	}
	if (a > b || b > 63 || (*end && *end != ','))
		return false;
	*lo = (unsigned)a;
	*hi = (unsigned)b;
	*p = *end ? end + 1 : end;
	return true;
}

/* Puts v into the field that `format` describes. Returns its width, or -1 for a format that makes
 * no sense. */
static int put_field(const char *format, uint64_t v, struct k_event *ev)
{
	size_t len = strcspn(format, ":");
	uint64_t *word = config_word(ev, format, len);
	const char *p = format + len + 1;
	unsigned lo, hi, done = 0;

	if (!word || format[len] != ':')
		return -1;
	do {
		uint64_t mask;

		if (!next_range(&p, &lo, &hi) || done + (hi - lo + 1) > 64)
			return -1;
		mask = (hi - lo == 63 ? ~0ULL : (1ULL << (hi - lo + 1)) - 1) << lo;
		*word = (*word & ~mask) | ((v >> done) << lo & mask);
		done += hi - lo + 1;
		if (done == 64)
			break;
	} while (*p);
	return (int)done;
}

static int unknown_term(const char *root, const struct k_pmu *pmu, const char *name, struct err *e)
{
	struct arena a = { 0 };
	const char **format, **event;
	struct err_tail near;
	uint32_t nf, ne;

	if (k_pmu_names(root, pmu, true, &a, &format, &nf) < 0 || k_pmu_names(root, pmu, false, &a, &event, &ne) < 0) {
		arena_free(&a);
		return err_oom(e);
	}
	near = err_near("", name, TEXT_NAMES(format, nf));
	if (!*near.text)
		near = err_near("", name, TEXT_NAMES(event, ne));
	err_set(e, TALLY_EINVAL, "PMU %s has no attribute or event \"%s\"%s", pmu->name, name, near.text);
	arena_free(&a);
	return -TALLY_EINVAL;
}

static int put_value(const struct k_pmu *pmu, const char *name, const char *format, uint64_t v, struct k_event *ev,
		     struct err *e)
{
	int width = put_field(format, v, ev);

	if (width < 0)
		return err_set(e, TALLY_ECORRUPT, "PMU %s: unknown format of %s: %s", pmu->name, name, format);
	if (width < 64 && v >> width)
		return err_set(e, TALLY_EINVAL, "%s=0x%llx is out of range: the field has %d bit%s", name,
			       (unsigned long long)v, width, width == 1 ? "" : "s");
	return 0;
}

static int put_terms(const char *root, const struct k_pmu *pmu, const char *terms, bool nested, struct k_event *ev,
		     struct err *e);

/* One term: "name" or "name=value"; value NULL when it has none. */
static int put_term(const char *root, const struct k_pmu *pmu, const char *name, const char *value, bool nested,
		    struct k_event *ev, struct err *e)
{
	uint64_t v = 1, *word;
	char file[160], text[1024];
	bool is_format;

	if (!is_name(name))
		return err_set(e, TALLY_EINVAL, "invalid attribute or event name \"%s\"", name);
	snprintf(file, sizeof(file), "format/%s", name);
	is_format = read_pmu_file(root, pmu->name, file, text, sizeof(text)) >= 0;
	word = is_format ? NULL : config_word(ev, name, strlen(name));
	if (is_format || word) {
		if (value && !text_u64(value, &v))
			return err_set(e, TALLY_EINVAL, "%s requires a number, not \"%s\"", name, value);
		if (is_format)
			return put_value(pmu, name, text, v, ev, e);
		*word = v;
		return 0;
	}
	snprintf(file, sizeof(file), "events/%s", name);
	if (nested || value || read_pmu_file(root, pmu->name, file, text, sizeof(text)) < 0)
		return unknown_term(root, pmu, name, e);
	return put_terms(root, pmu, text, true, ev, e);
}

static int put_terms(const char *root, const struct k_pmu *pmu, const char *terms, bool nested, struct k_event *ev,
		     struct err *e)
{
	char term[128];
	int rc = 0;

	while (*terms && rc >= 0) {
		size_t len = strcspn(terms, ",");
		char *value;

		if (len >= sizeof(term))
			return err_set(e, TALLY_EINVAL, "a term is longer than %zu characters", sizeof(term) - 1);
		memcpy(term, terms, len);
		term[len] = 0;
		terms += len + (terms[len] == ',');
		value = strchr(term, '=');
		if (value)
			*value++ = 0;
		rc = put_term(root, pmu, term, value, nested, ev, e);
	}
	return rc;
}

int k_pmu_encode(const char *root, const struct k_pmu *pmu, const char *terms, struct k_event *ev, struct err *e)
{
	struct k_event work = *ev;
	int rc;

	work.type = pmu->type;
	work.counter = pmu->core;
	memcpy(work.cpus, pmu->cpus, sizeof(work.cpus));
	rc = put_terms(root, pmu, terms, false, &work, e);
	if (rc >= 0)
		*ev = work;
	return rc;
}

/* ---- units ------------------------------------------------------------------------------ */

void k_pmu_unit(const char *root, const struct k_pmu *pmu, const char *event, char unit[static 32], double *scale)
{
	char file[160], text[64], *end;

	*unit = '\0';
	*scale = 1;
	if (!is_name(event))
		return;
	snprintf(file, sizeof(file), "events/%.100s.scale", event);
	if (read_pmu_file(root, pmu->name, file, text, sizeof(text)) > 0) {
		double d = strtod(text, &end);

		*scale = end != text && d > 0 && d - d == 0 ? d : 1;
	}
	snprintf(file, sizeof(file), "events/%.100s.unit", event);
	if (read_pmu_file(root, pmu->name, file, text, sizeof(text)) > 0)
		snprintf(unit, 32, "%.31s", text);
}
