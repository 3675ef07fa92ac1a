/*
 * pmu.h: PTT devices as an operating system presents them, whoever that is.
 *
 * The running Linux (kernel), the embedded machine (machine) and a machine
 * behind a socket (attach) each fill a `struct ptt_pmus`; get, set, list
 * (ask), record and tune (capture) know nothing else.  The rules (rule.h) are checked
 * by the asker before anything is opened, and again by a platform that has
 * its own opinion.
 */
#ifndef TALLY_PTT_PMU_H
#define TALLY_PTT_PMU_H

#include "base/base.h"
#include "ptt/device.h"

#define PTT_PMU_MOST 64 /* devices of one platform */
struct ptt_filter {     /* what a trace can be restricted to */
	char name[16];  /* "0000:00:10.0" */
	uint32_t value; /* of `filter`: 0x80001, or the requester id */
	bool port;      /* a root port: masks may be or'ed together */
};
struct ptt_pmu {
	char name[32]; /* "hisi_ptt0_2" */
	uint32_t type; /* as perf numbers it; 0: not known */
	char cpus[64]; /* "0-15" */
	uint8_t time;  /* enum ptt_time: what the Time of a record counts from; 0: nobody knows */
	uint32_t nfilters;
	/* sorted: ports first, then by value; valid until the next list() or close() */
	const struct ptt_filter *filter;
};

/* What `filter`, `type`, `direction`, `format` of an event come to. */
struct ptt_ask {
	char device[32];
	uint64_t config;                 /* as the driver's format files lay it out */
	uint32_t filter;                 /* config:0-19 */
	uint8_t direction, type, format; /* config:20-23, 24-31, 32-35 (0: 4DW, 1: 8DW) */
};

/* A trace's committed bytes, in order. */
struct ptt_aux {
	const uint8_t *p;
	size_t n;
	uint32_t flags; /* PERF_AUX_FLAG_TRUNCATED (1): data before it is lost */
	uint64_t lost;  /* records that are known to be lost before it */
};
#define PTT_AUX_TRUNCATED 1u

/* What a core's links have carried since some moment, by [outbound][enum ptt_class]; bytes of payload. */
struct ptt_link {
	uint64_t ns; /* the platform's time, which the Time of its traces counts, too */
	uint64_t tlps[2][4], bytes[2][4];
};

struct ptt_pmus {
	void *arg;
	const struct ptt_pmus_ops *op;
};
struct ptt_pmus_ops {
	const char *what; /* "this machine", "the kunpeng model", "unix:/run/x": for messages */
	/* The devices now, as *ret[0..*n), valid until the next call of list() or close(). 0; -TALLY_ENOTSUP: no such
	 * hardware; -TALLY_EPERM; -TALLY_EIO. */
	int (*list)(void *arg, const struct ptt_pmu **ret, uint32_t *n, struct err *e);
	/* `i` is an index of the list. Values as written by the user go to the platform unchanged but for blanks:
	 * tune_set takes 0..65535, the device makes 2 of what is above. -TALLY_EPERM, -TALLY_EBUSY (it timed out),
	 * -TALLY_EIO. */
	int (*tune_get)(void *arg, uint32_t i, enum ptt_tune t, uint32_t *value, struct err *e);
	int (*tune_set)(void *arg, uint32_t i, enum ptt_tune t, uint32_t value, struct err *e);
	/* Starts; one trace per device: -TALLY_EBUSY. ring: bytes of the AUX ring, a multiple of PTT_BUFFER_BYTES.
	 * -TALLY_EINVAL: the platform refuses the event, with its words. */
	int (*start)(void *arg, const struct ptt_pmu *p, const struct ptt_ask *ev, size_t ring, struct err *e);
	/* Waits up to timeout_ms for committed bytes: 1 and *a (valid until the next call), 0: none, negative: the
	 * device is lost (-TALLY_EEND, -TALLY_EIO). */
	int (*next)(void *arg, struct ptt_aux *a, int timeout_ms, struct err *e);
	/* Stops the trace: what the device still has is committed, and next() gives it until it says 0. */
	int (*stop)(void *arg, struct err *e);
	/* Embedded machines: time passes only here; NULL where it passes by itself. Ends early, when the ring is full.
	 * Returns the nanoseconds that passed. */
	uint64_t (*advance)(void *arg, uint64_t ns);
	void (*close)(void *arg);
	/* The platform's own time, where it passes by itself and may be slower than the clock; NULL where it is the
	 * clock's. Negative as next(). */
	int (*now)(void *arg, uint64_t *ns, struct err *e);
	/* What the links of device i's core have carried. NULL, -TALLY_ENOTSUP: nothing here counts that. Negative as
	 * next(). */
	int (*link)(void *arg, uint32_t i, struct ptt_link *ret, struct err *e);
};

#endif
