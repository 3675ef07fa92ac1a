/*
 * doctor.c: what this machine lets tally do.
 *
 * The kernel's room tries what the kernel gives; libraries and leases are tried
 * here; what a finding means is in facts/doctor.def.  The verdict over all is that of the
 * rows without which no probe of an event fires: all of them must be there.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <tally/doctor.h>

#include "base/base.h"
#include "base/file.h"
#include "kernel/doctor.h"
#include "kernel/kernel.h"
#include "platform/holder.h"

#define LEASES_MOST 64u

/* ---- libraries -------------------------------------------------------------------------------- */

enum library { LIB_BPF, LIB_PFM, LIB_DW, LIB_LZMA, LIB_ZSTD, LIB_FUSE, LIB_HTTP, LIB_UNICORN, LIB_DUCKDB, LIBRARIES };
static const struct {
	const char *name, *what;
	const char *soname[2], *function; /* which says its version in words; NULL: none does */
} libraries[LIBRARIES] = {
	[LIB_BPF] = { "libbpf", "loads D programs into the kernel", { NULL }, NULL },
	[LIB_PFM] = { "libpfm4", "names of the CPU's own events", { NULL }, NULL },
	[LIB_DW] = { "libdw", "stacks without frame pointers", { "libdw.so.1" }, NULL },
	[LIB_LZMA] = { "liblzma", "function names of stripped programs", { "liblzma.so.5" }, "lzma_version_string" },
	[LIB_ZSTD] = { "libzstd", "compressed perf.data files", { "libzstd.so.1" }, "ZSTD_versionString" },
	[LIB_FUSE] = { "libfuse3", "'tally machine --sysfs'", { "libfuse3.so.3", "libfuse3.so.4" }, "fuse_pkgversion" },
	[LIB_HTTP] = { "libmicrohttpd", "'tally serve'", { "libmicrohttpd.so.12" }, "MHD_get_version" },
	[LIB_UNICORN] = { "Unicorn", "'tally machine --run'", { "libunicorn.so.2" }, NULL },
	[LIB_DUCKDB] = { "DuckDB", "Parquet and SQL of 'tally export'", { "libduckdb.so" }, "duckdb_library_version" },
};

/* duckdb: where that one is; NULL: where libraries are. */
static bool library_find(enum library which, const char *duckdb, char *version, size_t n)
{
	unsigned (*unicorn)(unsigned *major, unsigned *minor), major, minor;
	const char *soname, *name = "uc_version", *dw_name = "dwfl_version";
	const char *(*dw_version)(const void *session);
	const char *(*say)(void);
	int pfm;

	switch (which) {
	case LIB_BPF:
		snprintf(version, n, "%s", k_libbpf_version());
		return true;
	case LIB_PFM:
		pfm = k_pfm_version();
		snprintf(version, n, "%d", pfm >> 16);
		return pfm >= 0;
	case LIB_UNICORN:
		if (!library_load(libraries[which].soname[0], &name, (void **)(void *)&unicorn, 1))
			return false;
		unicorn(&major, &minor);
		snprintf(version, n, "%u.%u", major, minor);
		return true;
	case LIB_DW:
		if (!library_load(libraries[which].soname[0], &dw_name, (void **)(void *)&dw_version, 1))
			return false;
		snprintf(version, n, "%s", dw_version(NULL));
		return true;
	default:
		for (size_t i = 0; i < 2 && (soname = libraries[which].soname[i]) != NULL; i++)
			if (library_load(which == LIB_DUCKDB && duckdb ? duckdb : soname, &libraries[which].function,
					 (void **)(void *)&say, 1)) {
				snprintf(version, n, "%s", say() + (say()[0] == 'v'));
				return true;
			}
		return false;
	}
}

void tally_features(const char *duckdb,
		    void (*each)(void *arg, const char *name, const char *version, bool inside, const char *what),
		    void *arg)
{
	for (unsigned i = 0; i < LIBRARIES; i++) {
		char version[64] = "";

		if (!library_find((enum library)i, duckdb, version, sizeof(version)))
			version[0] = '\0';
		each(arg, libraries[i].name, version, i == LIB_BPF, libraries[i].what);
	}
}

/* ---- rights ------------------------------------------------------------------------------------ */

int tally_rights_keep(uint32_t rights)
{
	return k_rights_keep(rights);
}

/* ---- findings --------------------------------------------------------------------------------- */

struct doctor {
	struct tally_doctor_opts o;
	bool denied, absent; /* of what is needed */
};

static const char *const cause_name[DOC_CAUSES] = {
	[DOC_OK] = "ok",         [DOC_LESS] = "less",     [DOC_TAKEN] = "taken",   [DOC_OFF] = "off",
	[DOC_DENIED] = "denied", [DOC_ABSENT] = "absent", [DOC_STATIC] = "static", [DOC_UNKNOWN] = "unknown",
};

static void doctor_finding(void *arg, enum doc_row row, enum doc_cause cause, const char *text)
{
	struct doctor *d = arg;
	const struct doc_is *is = doc_is(row);
	const struct doc_says *s = doc_says(row, cause);
	struct tally_finding f = { .key = is->key,
				   .group = is->group,
				   .title = is->title,
				   .needed = is->main,
				   .cause = cause_name[cause],
				   .found = text };
	static const char sudo[] = "sudo ";
	struct k_fix fix;

	if (!s)
		s = doc_says(row, DOC_UNKNOWN);
	fix = k_fix(s->command);
	/* Root needs no sudo, and a small system has none. */
	for (char *at; !geteuid() && (at = strstr(fix.text, sudo));)
		memmove(at, at + sizeof(sudo) - 1, strlen(at + sizeof(sudo) - 1) + 1);
	f.verdict = s->verdict;
	f.consequence = s->consequence;
	f.fix = s->how == DOC_FIXES ? fix.text : "";
	f.instead = s->how == DOC_INSTEAD ? s->command : "";
	if (is->main && s->verdict == DOC_IS_MISSING) {
		d->denied |= cause == DOC_DENIED;
		d->absent |= cause != DOC_DENIED;
	}
	if (d->o.each)
		d->o.each(d->o.arg, &f);
}

/* The kernel's part of FUSE is of no use without the library. */
static void found_in_kernel(void *arg, enum doc_row row, enum doc_cause cause, const char *text)
{
	char version[64], both[128];

	if (row == DOC_fuse && !library_find(LIB_FUSE, NULL, version, sizeof(version))) {
		doctor_finding(arg, row, LIBRARIES_LOAD ? DOC_ABSENT : DOC_STATIC, LIBRARY_WHY("libfuse3 not found"));
	} else if (row == DOC_fuse) {
		snprintf(both, sizeof(both), "libfuse3 %s, %s", version, text);
		doctor_finding(arg, row, cause, both);
	} else {
		doctor_finding(arg, row, cause, text);
	}
}

static void found_library(struct doctor *d, enum doc_row row, enum library which)
{
	char version[64];
	bool has = library_find(which, d->o.duckdb, version, sizeof(version));

	doctor_finding(d, row,
		       has            ? DOC_OK :
		       LIBRARIES_LOAD ? DOC_ABSENT :
					DOC_STATIC,
		       has ? version : LIBRARY_WHY("not found"));
}

static void doctor_leases(struct doctor *d)
{
	struct lease_holder v[LEASES_MOST];
	uint32_t n = holder_list(v, COUNT(v));

	for (uint32_t i = 0; i < n && i < COUNT(v); i++) {
		struct buf b = { 0 };

		holder_text(&b, &v[i]);
		doctor_finding(d, DOC_lease, DOC_TAKEN, b.p ? b.p : "another process");
		buf_free(&b);
	}
	if (!n)
		doctor_finding(d, DOC_lease, DOC_OK, "free");
}

int tally_doctor(const struct tally_doctor_opts *opts)
{
	struct doctor d = { 0 };

	if (!opts_take(&d.o, sizeof(d.o), opts))
		return -TALLY_EINVAL;
	k_doctor(d.o.root ? d.o.root : "", NULL, found_in_kernel, &d);
	found_library(&d, DOC_unwind, LIB_DW);
	found_library(&d, DOC_unicorn, LIB_UNICORN);
	found_library(&d, DOC_duckdb, LIB_DUCKDB);
	doctor_leases(&d);
	return d.denied ? -TALLY_EPERM : d.absent ? -TALLY_ENOTSUP : 0;
}
