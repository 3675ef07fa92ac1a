/* push_int.h: profiles that are sent to a server. */
#ifndef TALLY_SERVE_PUSH_INT_H
#define TALLY_SERVE_PUSH_INT_H

#include "serve/serve_int.h"

struct push;
/* -TALLY_EINVAL: no URL that profiles can be sent to. */
int push_check_url(const char *url, struct err *e);
/* -TALLY_ENOTSUP: libcurl is not installed. */
int push_open(struct push **ret, struct tally_serve *s, struct err *e);
void push_close(struct push *p); /* NULL is fine, here and below: nothing is pushed */
int push_fd(const struct push *p);
/* Reads the profiles, if that is due or `now`. */
void push_read(struct push *p, bool now);
int push_wait_ms(const struct push *p); /* when push_run() has something to do, without that descriptor; -1: never */
void push_run(struct push *p);          /* sends and hears what it can without waiting */
/* The last ones: waits for the server, though not long, and says what is lost. */
void push_end(struct push *p);
void push_put_metrics(const struct push *p, enum format f, struct buf *to);
void push_put_status(const struct push *p, struct buf *to); /* a member of an object, with a comma in front */

#endif
