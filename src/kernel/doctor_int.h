/*
 * doctor_int.h: how things are tried, apart from what is concluded from it.
 *
 *	doctor.c        concludes: answers of tries and small files to findings
 *	doctor_try.c    tries: system calls
 */
#ifndef TALLY_KERNEL_DOCTOR_INT_H
#define TALLY_KERNEL_DOCTOR_INT_H

#include "kernel/doctor.h"

/* `own`: of this process on any CPU; else of all processes on the CPU that runs this. Negative: -errno. */
struct k_tries {
	void *arg;
	/* The event can be opened: 0. */
	int (*open)(void *arg, const struct k_event *ev, bool own);
	/* Whether its overflow was told within some milliseconds: 1, 0. */
	int (*overflow)(void *arg, const struct k_event *ev, bool own);
	/* How many events of this kind have a counter at the same time. */
	int (*pinned)(void *arg, const struct k_event *ev, bool own);
	/* Whether a program that is loaded and attached to the event was run by it: 1, 0. */
	int (*bpf)(void *arg, const struct k_event *ev);
	/* A ring buffer, or an array, of that size can be made: 0. */
	int (*map)(void *arg, bool ring, uint32_t bytes);
	bool (*may)(void *arg, unsigned capability);
	/* The first line that a program prints: its length. */
	int (*first_line)(void *arg, const char *const *argv, char *to, size_t n);
};
extern const struct k_tries k_system_calls;

#endif
