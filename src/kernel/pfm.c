/*
 * pfm.c: event names of the CPU's own PMU, through libpfm4.
 *
 * pfm_initialize() builds its tables for some 14 ms, so the library is loaded
 * when the first name is asked for that nobody else knows, and then kept: its
 * state is one per process, and so is ours (the only state of this kind; it is
 * set once and read only).  A build without the library's header or without
 * dlopen (static) defines TALLY_NO_DLOPEN and gets "not supported".
 */
#include "base/file.h"
#include "kernel/doctor.h"

#ifdef TALLY_NO_DLOPEN

int k_pfm_version(void)
{
	return -TALLY_ENOTSUP;
}

int k_pfm_encode(const char *name, struct k_event *ev, struct err *e)
{
	(void)name;
	(void)ev;
	return err_set(e, TALLY_ENOTSUP, "names of the CPU's own events require libpfm4: " LIBRARY_NONE);
}

int k_pfm_names(struct arena *a, const char ***ret, uint32_t *n)
{
	(void)a;
	*ret = NULL;
	*n = 0;
	return 0;
}

#else

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <perfmon/pfmlib_perf_event.h>

#define SONAME "libpfm.so.4"
#define MAX_NAMES 65536

LIBRARY_NOTE("pfm", "names of the CPU's own events", "recommended", SONAME);

struct pfm {
	pthread_once_t once;
	const char *why; /* why it can't be used; NULL when it can */
	__typeof__(pfm_initialize) *initialize;
	__typeof__(pfm_get_os_event_encoding) *encode;
	__typeof__(pfm_get_pmu_info) *pmu_info;
	__typeof__(pfm_get_event_info) *event_info;
	__typeof__(pfm_get_event_next) *event_next;
	__typeof__(pfm_strerror) *strerror;
	__typeof__(pfm_get_version) *version;
};

static struct pfm pfm = { .once = PTHREAD_ONCE_INIT };

static bool present_core(const struct pfm *p, pfm_pmu_t i, pfm_pmu_info_t *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	return p->pmu_info(i, info) == PFM_SUCCESS && info->is_present && info->type == PFM_PMU_TYPE_CORE;
}

static void pfm_load(void)
{
	void *lib = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);

	pfm.why = "libpfm4 is not installed (package libpfm4)";
	if (!lib)
		return;
	pfm.initialize = dlsym(lib, "pfm_initialize");
	pfm.encode = dlsym(lib, "pfm_get_os_event_encoding");
	pfm.pmu_info = dlsym(lib, "pfm_get_pmu_info");
	pfm.event_info = dlsym(lib, "pfm_get_event_info");
	pfm.event_next = dlsym(lib, "pfm_get_event_next");
	pfm.strerror = dlsym(lib, "pfm_strerror");
	pfm.version = dlsym(lib, "pfm_get_version");
	pfm.why = "libpfm4 is not the library that it should be";
	if (!pfm.initialize || !pfm.encode || !pfm.pmu_info || !pfm.event_info || !pfm.event_next || !pfm.strerror ||
	    !pfm.version)
		return;
	pfm.why = NULL;
	if (pfm.initialize() != PFM_SUCCESS)
		pfm.why = "libpfm4 could not be set up";
}

static const struct pfm *pfm_get(void)
{
	pthread_once(&pfm.once, pfm_load);
	return &pfm;
}

int k_pfm_version(void)
{
	const struct pfm *p = pfm_get();

	return p->why ? -TALLY_ENOTSUP : p->version();
}

static bool generic_type(uint32_t type)
{
	return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_HW_CACHE ||
	       type == PERF_TYPE_TRACEPOINT || type == PERF_TYPE_BREAKPOINT;
}

/* The nearest name is looked for only when the name is not tied to a PMU (PMU::EVENT). */
static int unknown_name(const char *name, struct err *e)
{
	struct arena a = { 0 };
	const char **v;
	uint32_t n;
	int rc;

	if (strstr(name, "::"))
		return err_set(e, TALLY_ENOPROBE, "libpfm4 knows no event \"%s\" here", name);
	if (k_pfm_names(&a, &v, &n) < 0) {
		arena_free(&a);
		return err_oom(e);
	}
	if (!n)
		rc = err_set(e, TALLY_ENOTSUP, "libpfm4 knows no PMU of this machine");
	else
		rc = err_set(e, TALLY_ENOPROBE, "libpfm4 knows no event \"%s\"%s", name,
			     err_near("", name, TEXT_NAMES(v, n)).text);
	arena_free(&a);
	return rc;
}

/* Whether an event whose attribute is not known is one of libpfm4's PMU "perf". */
static bool pfm_is_of_perf(const struct pfm *p, const char *name)
{
	struct perf_event_attr attr = { 0 };
	pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof(arg) };
	char qualified[160];

	return snprintf(qualified, sizeof(qualified), "perf::%s", name) < (int)sizeof(qualified) &&
	       p->encode(qualified, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &arg) == PFM_ERR_ATTR;
}

int k_pfm_encode(const char *name, struct k_event *ev, struct err *e)
{
	const struct pfm *p = pfm_get();
	struct perf_event_attr attr = { 0 };
	pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof(arg) };
	int rc;

	if (p->why)
		return err_set(e, TALLY_ENOTSUP, "%s", p->why);
	rc = p->encode(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &arg);
	if (rc == PFM_ERR_NOTFOUND)
		return unknown_name(name, e);
	/* libpfm4 also has the kernel's generic events, and its tracepoints where it can read them, as a PMU of their
	 * own: they are not the CPU's. */
	if ((rc == PFM_SUCCESS && generic_type(attr.type)) || (rc == PFM_ERR_ATTR && pfm_is_of_perf(p, name)))
		return unknown_name(name, e);
	if (rc != PFM_SUCCESS)
		return err_set(e, TALLY_EINVAL, "libpfm4 on %s: %s", name, p->strerror(rc));
	ev->type = attr.type;
	ev->config = attr.config;
	ev->config1 = attr.config1;
	ev->config2 = attr.config2;
	ev->precise_ip = attr.precise_ip;
	ev->counter = true;
	return 0;
}

static int add_names(const struct pfm *p, const pfm_pmu_info_t *pmu, struct arena *a, const char ***v, uint32_t *n,
		     uint32_t *cap)
{
	for (int i = pmu->first_event; i != -1 && *n < MAX_NAMES; i = p->event_next(i)) {
		pfm_event_info_t info = { .size = sizeof(info) };
		const char **slot;

		if (p->event_info(i, PFM_OS_PERF_EVENT, &info) != PFM_SUCCESS)
			continue;
		slot = VEC_NEW(*v, *n, *cap);
		if (!slot || !(*slot = arena_strdup(a, info.name)))
			return -TALLY_ENOMEM;
	}
	return 0;
}

int k_pfm_names(struct arena *a, const char ***ret, uint32_t *n)
{
	const struct pfm *p = pfm_get();
	const char **v = NULL, **copy = NULL;
	uint32_t count = 0, cap = 0;
	int rc = 0;

	*ret = NULL;
	*n = 0;
	if (p->why)
		return 0;
	for (int i = 0; i < PFM_PMU_MAX && rc >= 0; i++) {
		pfm_pmu_info_t info;

		if (present_core(p, (pfm_pmu_t)i, &info))
			rc = add_names(p, &info, a, &v, &count, &cap);
	}
	if (rc >= 0) {
		copy = arena_alloc(a, (count + 1) * sizeof(*copy));
		rc = copy ? 0 : -TALLY_ENOMEM;
	}
	if (rc >= 0 && count) {
		memcpy(copy, v, count * sizeof(*v));
		*ret = copy;
		*n = count;
	}
	mem_free(v);
	return rc;
}

#endif
