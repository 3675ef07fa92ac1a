/*
 * sun4v_law.h: what the counters of a sun4v machine obey, as far as an asker can see it.
 *
 * A watch takes readings of all that this guest may read, over some time; then each law is asked.
 */
#ifndef TALLY_HV_SUN4V_LAW_H
#define TALLY_HV_SUN4V_LAW_H

#include "hv/sun4v_guest.h"

enum sun4v_verdict { SUN4V_HOLDS, SUN4V_BROKEN, SUN4V_UNKNOWN };
enum sun4v_provider { SUN4V_VFALLS, SUN4V_MMUSTAT };
struct sun4v_law {
	uint8_t number;
	const char *text;
};
const struct sun4v_law *sun4v_law_at(enum sun4v_provider of, uint32_t i); /* NULL past the last */

struct sun4v_watch;
struct sun4v_watch_opts {
	enum sun4v_provider of;
	uint64_t ns; /* all readings together take so long; 0: one second */
	/* So much time of the platform passes; not 0: it was stopped. */
	int (*pass)(void *arg, uint64_t ns);
	uint64_t (*now)(void *arg); /* nanoseconds of the platform's own time */
	void *arg;
};
/* Takes the readings, and puts back what was selected. What may not be read is no error: laws that need it are unknown. -TALLY_ENOMEM,
 * -TALLY_ENOTSUP: the machine has none of these counters; -TALLY_EEND, -TALLY_EIO: the platform. */
int sun4v_watch_open(struct sun4v_watch **ret, struct sun4v_client *c, const struct sun4v_watch_opts *o, struct err *e);
/* One saved buffer: what was collected since it was zero. -TALLY_ENOMEM. */
int sun4v_watch_saved(struct sun4v_watch **ret, const uint8_t buffer[MMUSTAT_BYTES]);
void sun4v_watch_close(struct sun4v_watch *w); /* NULL is fine */
/* Words of a broken or unknown law in e. */
enum sun4v_verdict sun4v_watch_law(const struct sun4v_watch *w, const struct sun4v_law *l, struct err *e);

#endif
