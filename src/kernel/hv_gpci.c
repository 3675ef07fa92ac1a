/*
 * hv_gpci.c: what Linux on POWER passes on of H_GetPerformanceCounterInfo.
 *
 * Only the kernel can make the call.  Its driver is a PMU, a folder of bus/event_source/devices:
 *
 *	hv_gpci/type, cpumask                  for perf_event_open(2)
 *	.../format/request                     "config:0-31": where a field of an event lies
 *	.../events/NAME                        "request=0x20,sibling_part_id=?,counter_info_version=0x8,length=8,
 *	                                       offset=0x10"
 *	.../interface/version, kernel_version  "0x6": of the firmware; the highest that the driver knows
 *	.../interface/collect_privileged, ga, expanded, lab      "1": the capabilities, request 0x40
 *	.../interface/processor_config, ...    from POWER10 on, five requests whole: their records as hexadecimal
 *	                                       digits in lines
 *
 * (Documentation/ABI/testing/sysfs-bus-event_source-devices-hv_gpci.)  So an asker's call is answered as a hypervisor
 * would, out of these: capabilities and topology are read at each call; what has counters is hv_gpci_count.c; all else
 * is H_Not_Available. A file belongs to the kernel, but its records are the firmware's: cut ones and wild sizes are
 * refused.
 *
 * Thread rule: a transport belongs to one thread.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/hv_gpci_int.h"
#include "kernel/kernel_int.h"

#define PMU "bus/event_source/devices/hv_gpci"
#define FILE_MOST (1u << 17) /* a page of 64 KiB, twice */
#define PATH_BYTES 768u
enum {
	AT_INDEX = 0x04,
	AT_SECONDARY = 0x08,
	AT_RETURNED = 0x0a,
	AT_DETAIL = 0x0c,
	AT_ELEMENT = 0x10,
	AT_VERSION_OUT = 0x13
};
enum { GA = 0x80, EXPANDED = 0x40, LAB = 0x20 }; /* bits of the capabilities */
static const struct {
	uint32_t number;
	const char *file;
} topology[] = {
	{ GPCI_REQUEST_processor_config, "processor_config" },
	{ GPCI_REQUEST_affinity_by_vp, "affinity_domain_via_virtual_processor" },
	{ GPCI_REQUEST_affinity_by_domain, "affinity_domain_via_domain" },
	{ GPCI_REQUEST_affinity_by_partition, "affinity_domain_via_partition" },
	{ GPCI_REQUEST_bus_topology, "processor_bus_topology" },
};

/* ---- files ------------------------------------------------------------------------------------ */

static bool path_of(char to[static PATH_BYTES], const char *root, const char *folder, const char *file)
{
	int n = snprintf(to, PATH_BYTES, "%s/" PMU "/%s%s", root, folder, file);

	return n > 0 && (size_t)n < PATH_BYTES;
}

/* Its length, or -errno. */
static int text_of(const char *root, const char *folder, const char *file, char *to, size_t n)
{
	char path[PATH_BYTES];

	return path_of(path, root, folder, file) ? file_small(path, to, n) : -ENAMETOOLONG;
}

static uint32_t number_of(const char *root, const char *folder, const char *file, uint32_t otherwise)
{
	char text[32];
	uint64_t v;

	return text_of(root, folder, file, text, sizeof(text)) > 0 && text_u64(text, &v) && v <= UINT32_MAX ?
		       (uint32_t)v :
		       otherwise;
}

static bool is_name(const char *s)
{
	return *s && *s != '.' && !strchr(s, '/');
}

typedef void each_fn(void *arg, const char *name, const char *text);
static void each_file(const char *root, const char *folder, each_fn *fn, void *arg)
{
	char path[PATH_BYTES], text[512];
	DIR *dir = path_of(path, root, folder, "") ? opendir(path) : NULL;
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (is_name(d->d_name) && text_of(root, folder, d->d_name, text, sizeof(text)) > 0)
			fn(arg, d->d_name, text);
	if (dir)
		closedir(dir);
}

static void add_format(void *arg, const char *name, const char *text)
{
	struct k_gpci_about *a = arg;

	if (a->nformats == K_GPCI_FORMATS || strlen(name) >= sizeof(a->format[0].name) ||
	    strlen(text) >= sizeof(a->format[0].place))
		return;
	strcpy(a->format[a->nformats].name, name);
	strcpy(a->format[a->nformats++].place, text);
}

static bool is_counted(const struct gpci_pmu *g, uint32_t number)
{
	for (uint32_t i = 0; i < g->ncounted; i++)
		if (g->counted[i] == number)
			return true;
	return false;
}

static void add_event(void *arg, const char *name, const char *text)
{
	struct gpci_pmu *g = arg;
	const char *request = strstr(text, "request=");
	unsigned long number = request ? strtoul(request + 8, NULL, 0) : 0;

	(void)name;
	if (!number || number > UINT32_MAX)
		return;
	g->about.nevents++;
	if (!is_counted(g, (uint32_t)number) && g->ncounted < GPCI_REQUESTS_MOST)
		g->counted[g->ncounted++] = (uint32_t)number;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b); /* the name is first */
}

static int read_about(struct gpci_pmu *g, struct err *e)
{
	struct k_gpci_about *a = &g->about;
	char text[32];
	uint64_t type;

	if (text_of(g->root, "", "type", text, sizeof(text)) <= 0 || !text_u64(text, &type) || type > UINT32_MAX)
		return err_set(e, TALLY_ENOTSUP,
			       "this kernel has no PMU hv_gpci: it does not run under a POWER hypervisor");
	a->type = (uint32_t)type;
	if (text_of(g->root, "", "cpumask", a->cpus, sizeof(a->cpus)) < 0)
		a->cpus[0] = '\0';
	g->cpu = (uint32_t)strtoul(a->cpus, NULL, 10);
	a->version = number_of(g->root, "interface/", "version", 0);
	a->kernel_version = number_of(g->root, "interface/", "kernel_version", 0);
	a->collect_privileged = number_of(g->root, "interface/", "collect_privileged", 0);
	a->ga = number_of(g->root, "interface/", "ga", 0);
	a->expanded = number_of(g->root, "interface/", "expanded", 0);
	a->lab = number_of(g->root, "interface/", "lab", 0);
	each_file(g->root, "format/", add_format, a);
	qsort(a->format, a->nformats, sizeof(a->format[0]), by_name);
	each_file(g->root, "events/", add_event, g);
	return 0;
}

/* ---- records as digits ------------------------------------------------------------------------ */

static int gpci_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	       c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 :
				      -1;
}

/* Lines of digits, which end anywhere between bytes. False: there is something else in them. */
static bool gpci_spell_bytes(const char *s, struct buf *to)
{
	for (; *s; s++) {
		if (*s == '\n' || *s == ' ')
			continue;
		if (gpci_digit(s[0]) < 0 || gpci_digit(s[1]) < 0)
			return false;
		buf_putc(to, (char)(gpci_digit(s[0]) << 4 | gpci_digit(s[1])));
		s++;
	}
	return true;
}

/* Counts the records: all bytes belong to one. */
static int gpci_whole_records(struct gpci_bytes *t, const char *file, struct err *e)
{
	size_t at = 0;
	uint32_t n = 0;

	t->all = (struct gpci_reply){
		.request = t->r->number, .record = (const uint8_t *)t->b.p, .bytes = t->b.n, .version_out = 8
	};
	while (at < t->b.n) {
		struct gpci_reply one = {
			.returned = 1, .record = t->all.record + at, .bytes = t->b.n - at, .version_out = 8
		};
		struct gpci_values v;
		struct err why = { 0 };

		if (gpci_record(t->r, &one, 0, &v, &why) < 0)
			return err_set(e, TALLY_ECORRUPT, "%s: record %u of the file is truncated or invalid", file,
				       n + 1);
		at += gpci_record_bytes(t->r, &v);
		n++;
	}
	t->all.returned = n;
	return 0;
}

static int file_failed(const char *file, int no, int64_t *code, struct err *e)
{
	if (no == EPERM || no == EACCES)
		*code = H_AUTHORITY;
	else if (no == ENOENT)
		*code = H_NOT_AVAILABLE;
	else if (no == EFBIG)
		return err_set(e, TALLY_ENOTSUP, "%s: the kernel cannot show all records: they exceed one page (EFBIG)",
			       file);
	else
		return err_set(e, TALLY_EIO, "cannot read %s: %s", file, strerror(no));
	return 0;
}

int gpci_topology(struct gpci_pmu *g, uint32_t number, struct gpci_bytes *ret, int64_t *code, struct err *e)
{
	const char *file = NULL;
	char *text;
	int rc;

	*code = H_SUCCESS;
	for (size_t i = 0; i < COUNT(topology); i++)
		if (topology[i].number == number)
			file = topology[i].file;
	if (!file) {
		*code = H_NOT_AVAILABLE;
		return 0;
	}
	ret->r = gpci_request(number, 8, 8);
	text = mem_alloc(FILE_MOST);
	if (!text)
		return err_oom(e);
	rc = text_of(g->root, "interface/", file, text, FILE_MOST);
	if (rc < 0)
		rc = file_failed(file, -rc, code, e);
	else if (!gpci_spell_bytes(text, &ret->b))
		rc = err_set(e, TALLY_ECORRUPT, "%s: it contains something other than hexadecimal digits", file);
	else
		rc = ret->b.failed ? err_oom(e) : gpci_whole_records(ret, file, e);
	mem_free(text);
	return rc;
}

/* ---- an answer ---------------------------------------------------------------------------------- */

void gpci_put_be(uint8_t *p, uint32_t bytes, uint64_t v)
{
	while (bytes--) {
		p[bytes] = (uint8_t)v;
		v >>= 8;
	}
}

static bool is_from(const struct gpci_request *r, const struct gpci_reply *ask, const struct gpci_values *v)
{
	uint64_t from = ask->starting_index < 0 ? 0 : (uint64_t)ask->starting_index;

	return v->id > from || (v->id == from && (r->index != GPCI_BY_VP || v->secondary >= ask->secondary_index));
}

/* Records from the asked one on, as many whole ones as fit: the code. */
static int64_t gpci_answer(struct gpci_pmu *g, const struct gpci_reply *ask, const struct gpci_bytes *t, size_t size)
{
	size_t from = 0, to = GPCI_HEADER;
	uint32_t n = 0;
	bool full = false;

	for (uint32_t i = 0; i < t->all.returned && !full; i++) {
		struct gpci_reply one = {
			.returned = 1, .record = t->all.record + from, .bytes = t->all.bytes - from, .version_out = 8
		};
		struct gpci_values v;
		struct err e = { 0 };
		size_t bytes;

		if (gpci_record(t->r, &one, 0, &v, &e) < 0)
			break;
		bytes = gpci_record_bytes(t->r, &v);
		if (is_from(t->r, ask, &v)) {
			full = bytes > size - to;
			if (!full && !n++) {
				gpci_put_be(g->memory + AT_INDEX, 4, v.id);
				gpci_put_be(g->memory + AT_SECONDARY, 2, v.secondary);
			}
			if (!full) {
				memcpy(g->memory + to, t->all.record + from, bytes);
				to += bytes;
			}
		}
		from += bytes;
	}
	gpci_put_be(g->memory + AT_RETURNED, 2, n);
	gpci_put_be(g->memory + AT_DETAIL, 4, full ? GPCI_BUF_TOO_SMALL : 0);
	gpci_put_be(g->memory + AT_ELEMENT, 2, t->r->size);
	return full || !n ? H_PARAMETER : H_SUCCESS;
}

/* Which record is the own one the files don't say. */
static int own_of_files(const char *name, struct err *e)
{
	return err_set(e, TALLY_ENOTSUP, "%s: the kernel does not say which record is your own: give its number", name);
}

static int gpci_fetch_request(struct gpci_pmu *g, const struct gpci_reply *ask, struct gpci_bytes *t, int64_t *code,
			      struct err *e)
{
	const struct gpci_request *r = gpci_request(ask->request, (uint8_t)g->about.version, 8);

	if (ask->request == GPCI_REQUEST_capabilities) {
		const struct k_gpci_about *a = &g->about;
		uint8_t record[16] = { a->collect_privileged,
				       (uint8_t)((a->ga ? GA : 0) | (a->expanded ? EXPANDED : 0) |
						 (a->lab ? LAB : 0)) };

		t->r = gpci_request(GPCI_REQUEST_capabilities, 8, 8);
		buf_put(&t->b, record, sizeof(record));
		t->all = (struct gpci_reply){ .returned = 1, .record = (const uint8_t *)t->b.p, .bytes = t->b.n };
		return t->b.failed ? -TALLY_ENOMEM : 0;
	}
	if (r && is_counted(g, r->number))
		return gpci_counted(g, r, ask->starting_index, t, code, e);
	if (gpci_topology(g, ask->request, t, code, e) < 0)
		return -(int)e->code;
	if (*code == H_SUCCESS && ask->starting_index == -1)
		return own_of_files(t->r->name, e);
	return 0;
}

static int gpci_call(void *arg, uint32_t vcpu, uint64_t r[3], struct err *e)
{
	struct gpci_pmu *g = arg;
	struct gpci_bytes t = { .r = NULL };
	struct gpci_reply ask;
	int64_t code = H_SUCCESS;
	int rc;

	(void)vcpu;
	if (r[2] > sizeof(g->memory) || gpci_reply(&ask, g->memory, (size_t)r[2], e) < 0)
		return err_set(e, TALLY_EINVAL, "invalid block of %llu bytes (a header has %u)",
			       (unsigned long long)r[2], GPCI_HEADER);
	rc = gpci_fetch_request(g, &ask, &t, &code, e);
	if (rc == 0 && code == H_SUCCESS)
		code = gpci_answer(g, &ask, &t, (size_t)r[2]);
	g->memory[AT_VERSION_OUT] = (uint8_t)g->about.version;
	buf_free(&t.b);
	r[0] = (uint64_t)code;
	return rc;
}

static void gpci_close(void *arg)
{
	gpci_counters_close(arg);
	mem_free(arg);
}

/* ---- opening -------------------------------------------------------------------------------------- */

/* "partition_id=3" of lparcfg, which lies in procfs: beside the root of sysfs. */
uint32_t gpci_own_partition(const struct gpci_pmu *g)
{
	char path[PATH_BYTES], text[8192], *at;

	snprintf(path, sizeof(path), "%s/../proc/powerpc/lparcfg", g->root);
	at = file_small(path, text, sizeof(text)) > 0 ? strstr(text, "partition_id=") : NULL;
	return at ? (uint32_t)strtoul(at + 13, NULL, 10) : 0;
}

static int open_pmu(struct gpci_pmu **ret, const char *sysfs, struct err *e)
{
	struct gpci_pmu *g = mem_alloc(sizeof(*g));
	int n, rc;

	if (!g)
		return err_oom(e);
	g->perf = gpci_perf_kernel;
	n = snprintf(g->root, sizeof(g->root), "%s", sysfs ? sysfs : "/sys");
	rc = (size_t)n < sizeof(g->root) ? read_about(g, e) : err_set(e, TALLY_EINVAL, "the path of sysfs is too long");
	if (rc < 0)
		mem_free(g);
	else
		*ret = g;
	return rc;
}

int k_gpci_about(struct k_gpci_about *ret, const char *sysfs, struct err *e)
{
	struct gpci_pmu *g;
	int rc = open_pmu(&g, sysfs, e);

	if (rc < 0)
		return rc;
	*ret = g->about;
	mem_free(g);
	return 0;
}

int k_gpci_transport_open(struct hv_transport *ret, const char *sysfs, const struct k_gpci_perf *perf, struct err *e)
{
	static const struct hv_transport_ops op = { .what = "the kernel's hv_gpci",
						    .papr = gpci_call,
						    .close = gpci_close };
	struct gpci_pmu *g;
	uint64_t hz;
	int rc = open_pmu(&g, sysfs, e);

	if (rc < 0)
		return rc;
	hz = timebase_hz(g->root);
	if (perf)
		g->perf = *perf;
	*ret = (struct hv_transport){ .arg = g,
				      .op = &op,
				      .partition = (uint16_t)gpci_own_partition(g),
				      .level = (uint8_t)g->about.version,
				      .relative = true,
				      .tick_hz = hz ? hz : HV_TICK_UNKNOWN,
				      .memory = g->memory,
				      .base = 0,
				      .bytes = sizeof(g->memory) };
	return 0;
}
