/*
 * attach: servers through which outside clients reach a platform.
 *
 * A server is a file descriptor that can be polled and a function that does what
 * is waiting without blocking; the conductor polls all servers and lets the
 * machine's time pass between.  Clients are hostile: what they send is copied
 * once and checked once, what they may hold is bounded, and when they go, all
 * that was theirs goes.
 */
#ifndef TALLY_ATTACH_H
#define TALLY_ATTACH_H

#include "base/base.h"
#include "machine/machine.h"

struct server;
struct server_ops {
	int (*fd)(struct server *d); /* to poll for reading: an epoll descriptor; may be asked once */
	/* Does what is waiting, bounded per call. 0, or negative with words: this server is broken (not: a client
	 * was). */
	int (*serve)(struct server *d, struct err *e);
	/* Time has passed in the machine: hands over what came of it (interrupts, traces). */
	int (*passed)(struct server *d, struct err *e);
	/* Whether somebody is there for whom time has to pass in the machine. NULL: never, what it shows doesn't change
	 * with time. */
	bool (*needs_time)(const struct server *d);
	/* Removes what it made in the file system, before close(). Negative with words: something stays. NULL: close()
	 * does it. */
	int (*leave)(struct server *d, struct err *e);
	void (*close)(struct server *d);
};
struct server {
	const struct server_ops *op;
}; /* first member of each server's own struct */

/* vfio-user: one PTT device as a PCI function at a UNIX socket; one client at a time, others wait (vfio.c). */
int server_open_vfio(struct server **ret, struct kunpeng *k, uint32_t device, const char *path, struct err *e);
/* The PMUs' sysfs tree, mounted through FUSE at dir (an empty directory) (sysfs.c). -TALLY_ENOTSUP: no FUSE;
 * -TALLY_EPERM; -TALLY_EINVAL: that is no empty directory. Its serve() says -TALLY_EEND when somebody else unmounts
 * it. */
int server_open_sysfs(struct server **ret, struct kunpeng *k, const char *dir, struct err *e);

/* The local protocol (doc/protocol.md): what `--on unix:PATH` speaks. */
struct local_service; /* local.h: which operations are answered, by whom */
int server_open_local(struct server **ret, const struct local_service *s, void *platform, const char *path,
		      struct err *e);
/* PTT over it: both ends (local_ptt.c). The service takes the machine's devices with tally's own driver. */
extern const struct local_service local_kunpeng;
struct local_wait;
/* w: how long it waits for a server that does not answer (local.h); NULL: as usual. */
int local_pmus(struct ptt_pmus *ret, const char *path, const struct local_wait *w, struct err *e);

#endif
