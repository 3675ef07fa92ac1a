/* live_int.h: what waits for its time in the service: the pages that are open, and profiles that are taken. */
#ifndef TALLY_SERVE_LIVE_INT_H
#define TALLY_SERVE_LIVE_INT_H

#include "serve/serve_int.h"

/* ---- live.c: the page, and the steps that it is sent ------------------------------ */
struct live;
int live_open(struct live **ret, struct tally_serve *s);
void live_resume(struct live *l); /* what is suspended: the library wants it before it closes connections */
void live_end(struct live *l);    /* the same, and pages are told that there is no more */
void live_close(struct live *l);
/* Does what is due, and returns when it is to be called again: milliseconds, -1: when somebody asks for something. */
int live_work(struct live *l, uint64_t now_ns);

/* ---- profile.c: stacks between two readings ------------------------------------------ */
struct profiles;
int profiles_open(struct profiles **ret);
void profiles_resume(struct profiles *p);
void profiles_close(struct profiles *p);
int profiles_work(struct profiles *p, uint64_t now_ns);

#endif
