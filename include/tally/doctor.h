/*
 * tally/doctor.h: what this machine lets tally do, found by trying, and what tally is made of.
 */
#ifndef TALLY_DOCTOR_H
#define TALLY_DOCTOR_H

#include <stdbool.h>

#include <tally/tally.h>

#ifdef __cplusplus
extern "C" {
#endif

/* LIMITED: something is less than it could be; MISSING: something can't be done at all. */
enum tally_verdict { TALLY_IS_OK, TALLY_IS_LIMITED, TALLY_IS_MISSING };

struct tally_finding {
	const char *key, *group, *title; /* "perf_cpu", "perf events", "whole CPUs" */
	uint32_t verdict;                /* enum tally_verdict */
	bool needed;                     /* D probes over perf events and BPF can't do without it */
	const char *cause;               /* "ok", "less", "taken", "off", "denied", "absent", "static", "unknown" */
	const char *found;               /* what was seen; "" */
	const char *consequence;         /* "" when it is ok */
	/* One command that mends it, or that serves where nothing can; one of them or none, else "". In a program that
	 * is not called tally, PROGRAM in it stands for that program: give it no rights where it is an interpreter. */
	const char *fix, *instead;
};

struct tally_doctor_opts {
	size_t size;        /* sizeof at the caller: lets us grow */
	const char *root;   /* another root before the system's files (tests); NULL */
	const char *duckdb; /* where DuckDB's library is; NULL: as the linker finds it */
	/* Each finding as it comes, groups one after the other; what it points to is good until it returns. */
	void (*each)(void *arg, const struct tally_finding *f);
	void *arg;
};
/* 0: D probes over perf events and BPF run here. -TALLY_EPERM: they are not permitted; -TALLY_ENOTSUP: this kernel
 * can't; -TALLY_EINVAL: unknown bytes in d. Opens things for a moment, leaves nothing, changes no setting. */
TALLY_API int tally_doctor(const struct tally_doctor_opts *d);

/*
 * Capabilities for a user who has none come from the program's file (setcap); then the user's environment, paths and
 * files are a stranger's to the program.  Such a program calls this first, with one thread: it keeps what the rights
 * name, gives up all others for good, and lets nothing through to commands that it runs.  Those for names of functions
 * are in effect only while the kernel's table or a process's root directory is opened, so that other files are opened
 * with the user's rights. Whether a program is such a one, getauxval(AT_SECURE) says.
 */
enum tally_right {
	TALLY_RIGHT_COUNT = 1,   /* events of all processes and the kernel: cap_perfmon, cap_ipc_lock */
	TALLY_RIGHT_PROGRAM = 2, /* D programs in the kernel: cap_bpf */
	TALLY_RIGHT_NAMES = 4,   /* of functions of the kernel and of others' processes: cap_syslog, cap_sys_ptrace */
};
/* -TALLY_EPERM: they can't be given up, and the program should end; -TALLY_ESTATE: there is a second thread, whose
 * rights would stay, and nothing was changed. */
TALLY_API int tally_rights_keep(uint32_t rights);

/* What tally is made of and what of it is here: each library with its version, "" when it was not found, and what it is
 * for. inside: it is part of the program. */
TALLY_API void tally_features(const char *duckdb,
			      void (*each)(void *arg, const char *name, const char *version, bool inside,
					   const char *what),
			      void *arg);

#ifdef __cplusplus
}
#endif

#endif
