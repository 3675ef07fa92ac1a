/*
 * watch.h: the packets of a PTT device, counted for as long as a service runs: a watch (ask/watch.h) whose events are
 * one event of such a device, as tally_record() takes it.
 */
#ifndef TALLY_CAPTURE_WATCH_H
#define TALLY_CAPTURE_WATCH_H

#include "ask/watch.h"

/* The first event of a PTT device in a list of events, its length, and that of its device's name; NULL: there is
 * none. */
const char *capture_watch_find(const char *events, size_t *n, size_t *device);
/* Errors: as tally_platform_open() and tally_record(). *ret is made also then, for its words; NULL: memory is out. */
int capture_watch_open(struct watch **ret, const struct watch_opts *o);

#endif
