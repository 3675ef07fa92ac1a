/*
 * sun4v_invariant.h: what the counters of a sun4v machine obey, as far as an asker can see it.
 *
 * A watch takes readings of all that this guest may read, over some time; then each invariant is asked.
 */
#ifndef TALLY_HV_SUN4V_INVARIANT_H
#define TALLY_HV_SUN4V_INVARIANT_H

#include "hv/sun4v_guest.h"

enum sun4v_verdict { SUN4V_HOLDS, SUN4V_BROKEN, SUN4V_UNKNOWN };
enum sun4v_provider { SUN4V_VFALLS, SUN4V_MMUSTAT };
/* X(name, what holds) */
/* clang-format off */
#define VFALLS_INVARIANTS(X) \
	X(classes_sum_to_all, "local, remote and cache-to-cache misses are all misses of level 2") \
	X(ports_sum_to_the_hub, "what comes in at the ports of a Zambezi its serializer takes") \
	X(serializer_keeps_nothing, "what a serializer takes it lets out") \
	X(waiters_are_woken, "a request that met another one of its address is woken") \
	X(requests_are_replied_to, "each request at a port gets one reply") \
	X(all_others_answer, "all other nodes answer each request") \
	X(empty_replies_are_replies, "replies without data are replies") \
	X(reads_are_transfers, "reads of a controller are among its reads and writes") \
	X(writes_are_transfers, "writes of a controller are among its reads and writes") \
	X(read_queues_are_queues, "time of reads in a queue is among that of reads and writes") \
	X(buffer_hits_are_reads, "hits in a write-back buffer are reads") \
	X(links_carry_what_was_read, "lines over the links and local misses were read by the controllers") \
	X(reads_are_misses, "controllers read what was requested and no cache had") \
	X(level_2_within_level_1, "misses of level 2 are among those of level 1") \
	X(walk_misses_are_walks, "misses of the table walker are among its references") \
	X(hubs_share_a_clock, "all Zambezis have one clock") \
	X(events_within_cycles, "no port has more cycles of an event than there were") \
	X(lines_fit_the_link, "lines of memory that came over a link fit in its time") \
	X(controllers_read_what_missed, "controllers read no more than misses of loads and fetches, stores, and table walks")
#define MMUSTAT_INVARIANTS(X) \
	X(counts_grow, "hits and ticks only grow") \
	X(reserved_words_stay, "reserved words stay") \
	X(hits_take_ticks, "each hit takes a tick or more, and nothing else does") \
	X(ticks_within_time, "ticks of a strand are within its time") \
	X(hits_are_misses, "hits of a TSB are misses of the TLB, on each side") \
	X(hits_and_misses_are_all, "hits and misses of the TSBs are all misses of the TLBs")
/* clang-format on */
#define INVARIANT(name, text) VFALLS_INVARIANT_##name,
enum vfalls_invariant { VFALLS_INVARIANTS(INVARIANT) VFALLS_INVARIANT_COUNT };
#undef INVARIANT
#define INVARIANT(name, text) MMUSTAT_INVARIANT_##name,
enum mmustat_invariant { MMUSTAT_INVARIANTS(INVARIANT) MMUSTAT_INVARIANT_COUNT };
#undef INVARIANT
struct sun4v_invariant {
	uint8_t number; /* from 1: of the enum, and one more */
	const char *name, *text;
};
const struct sun4v_invariant *sun4v_invariant_at(enum sun4v_provider of, uint32_t i); /* NULL past the last */

struct sun4v_watch;
struct sun4v_watch_opts {
	enum sun4v_provider of;
	uint64_t ns; /* all readings together take so long; 0: one second */
	/* So much time of the platform passes; not 0: it was stopped. */
	int (*pass)(void *arg, uint64_t ns);
	uint64_t (*now)(void *arg); /* nanoseconds of the platform's own time */
	void *arg;
};
/* Takes the readings, and puts back what was selected. What may not be read is no error: invariants that need it are
 * unknown. -TALLY_ENOMEM, -TALLY_ENOTSUP: the machine has none of these counters; -TALLY_EEND, -TALLY_EIO: the
 * platform. */
int sun4v_watch_open(struct sun4v_watch **ret, struct sun4v_client *c, const struct sun4v_watch_opts *o, struct err *e);
/* One saved buffer: what was collected since it was zero. -TALLY_ENOMEM. */
int sun4v_watch_saved(struct sun4v_watch **ret, const uint8_t buffer[MMUSTAT_BYTES]);
void sun4v_watch_close(struct sun4v_watch *w); /* NULL is fine */
/* Words of a broken or unknown invariant in e. */
enum sun4v_verdict sun4v_watch_invariant(const struct sun4v_watch *w, const struct sun4v_invariant *l, struct err *e);

#endif
