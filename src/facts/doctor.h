/*
 * doctor.h: what can be found out about a machine before tally is used on it,
 * and what each finding means: rows of doctor.def.
 *
 * Whoever tries yields a row, a cause and a few words of what was seen; what follows from
 * it, and the one command that mends it, is here.
 */
#ifndef TALLY_FACTS_DOCTOR_H
#define TALLY_FACTS_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>

enum doc_row {
#define DOCTOR(row, group, main, title) DOC_##row,
#define DOCTOR_SAYS(row, cause, verdict, how, command, consequence)
#include "facts/doctor.def"
#undef DOCTOR
#undef DOCTOR_SAYS
	DOC_ROWS
};
/* DENIED: a right is missing; ABSENT: the machine or kernel does not have it; LESS: it works in part; TAKEN: somebody
 * else has it; OFF: switched off; STATIC: this program loads no libraries; UNKNOWN: trying it failed in an unforeseen
 * way. */
enum doc_cause { DOC_OK, DOC_LESS, DOC_TAKEN, DOC_OFF, DOC_DENIED, DOC_ABSENT, DOC_STATIC, DOC_UNKNOWN, DOC_CAUSES };
enum doc_verdict { DOC_IS_OK, DOC_IS_LIMITED, DOC_IS_MISSING };
enum doc_how { DOC_NOTHING, DOC_FIXES, DOC_INSTEAD };

/* Stands in a command for the running program, which need not be in PATH: whoever shows the command fills it
 * (k_fix()). */
#define DOC_PROGRAM "PROGRAM"
/* DuckDB's library is in no Debian; its npm package carries it. Where it goes a tally with capabilities looks, too. */
#ifdef __aarch64__
#define DUCKDB_MACHINE "arm64"
#else
#define DUCKDB_MACHINE "x64"
#endif
#define FIX_DUCKDB                                                                                    \
	"sh -ec 'sudo apt-get install npm; npm pack @duckdb/node-bindings-linux-" DUCKDB_MACHINE "; " \
	"tar xzf duckdb-*.tgz; sudo install -D package/libduckdb.so /usr/local/lib/libduckdb.so; sudo ldconfig'"
/*
 * The commands that give the members of a group what is needed, and others nothing: whoever may run a program whose
 * file has capabilities has them, and they read what root reads.  setcap comes last, since a new owner or group takes
 * capabilities away.  Each command includes those before it, since setcap replaces what was there.  A minimal Debian
 * has no setcap, and without it nothing is to be changed.
 */
#define FIX_GROUP(capabilities)                                                                                                                                            \
	"sudo sh -ec 'command -v setcap >/dev/null || apt-get install -y libcap2-bin; groupadd -f perf_users; gpasswd -a $SUDO_USER perf_users; chgrp perf_users \"$0\"; " \
	"chmod 750 \"$0\"; setcap " capabilities "=ep \"$0\"; echo next, newgrp perf_users' " DOC_PROGRAM
#define FIX_COUNT FIX_GROUP("cap_perfmon")
#define FIX_TRACE FIX_GROUP("cap_perfmon,cap_bpf")
#define FIX_KERNEL_NAMES FIX_GROUP("cap_perfmon,cap_bpf,cap_syslog")
#define FIX_USER_NAMES FIX_GROUP("cap_perfmon,cap_bpf,cap_syslog,cap_sys_ptrace")

struct doc_is {
	const char *key, *group, *title;
	bool main;
}; /* key: "perf_cpu" */
struct doc_says {
	uint8_t verdict, how;
	const char *command, *consequence;
}; /* enum doc_verdict, doc_how; "" */

const struct doc_is *doc_is(enum doc_row row);
/* NULL: a row can't have this cause; every row can be UNKNOWN, and OK has no words. */
const struct doc_says *doc_says(enum doc_row row, enum doc_cause cause);

#endif
