/*
 * doctor.h: what works on the running kernel, found by trying.
 */
#ifndef TALLY_KERNEL_DOCTOR_H
#define TALLY_KERNEL_DOCTOR_H

#include "facts/doctor.h"
#include "kernel/kernel.h"

/* One finding: text is what was seen, "" when there is nothing to tell; good until the function returns. */
typedef void k_found_fn(void *arg, enum doc_row row, enum doc_cause cause, const char *text);

struct k_tries; /* how things are tried (doctor_int.h); tests have their own */
/* Hands on a finding for each row of facts/doctor.def that this room can try, in order. root stands in front of the
 * paths of /proc, /sys and /dev ("": the real ones); tries NULL: system calls. Opens nothing that stays, changes no
 * setting; takes a few milliseconds, and as long as QEMU needs to say its version. */
void k_doctor(const char *root, const struct k_tries *tries, k_found_fn *found, void *arg);

/* libpfm4's version (major << 16 | minor); -TALLY_ENOTSUP: it is not there. */
int k_pfm_version(void);
const char *k_libbpf_version(void); /* "1.1" */

#endif
