/*
 * sysfs_int.h: the parts of the sysfs server.
 *
 *	sysfs.c        the file system: what a request of the kernel is answered with
 *	sysfs_tree.c   which files there are, and what is in them; knows no FUSE
 *	sysfs_mount.c  the library, the mount, and who takes it away when this process dies
 *
 * Functions that answer for a request give 0 or more, or a negative errno value,
 * as the genuine files would.
 */
#ifndef TALLY_SYSFS_INT_H
#define TALLY_SYSFS_INT_H

#define FUSE_USE_VERSION 312
#include <fuse3/fuse_lowlevel.h>

#include "attach/attach.h"
#include "ptt/driver.h"

/* ---- the tree (sysfs_tree.c) ---------------------------------------------------------- */
#define SYSFS_ROOT FUSE_ROOT_ID
#define SYSFS_TEXT 64    /* no file is longer, with its NUL */
#define SYSFS_PAGE 4096u /* the size that sysfs says of each file, and the most of one write */

struct sysfs_device {
	struct ptt_driver *tuner;
	int mux_ms; /* perf_event_mux_interval_ms: kept, as nothing multiplexes a PTT device */
};
struct sysfs {
	struct kunpeng *k;
	uint32_t n;
	struct sysfs_device device[PTT_PMU_MOST];
};
struct sysfs_node {
	uint64_t number; /* that of its inode: the same each time it is there */
	uint64_t parent;
	char name[40];
	bool dir;
	uint16_t mode;  /* permissions */
	uint32_t ndirs; /* in it */
};
/* s is zeroed. -TALLY_ENOMEM, with words. */
int sysfs_open(struct sysfs *s, struct kunpeng *k, struct err *e);
void sysfs_close(struct sysfs *s);
/* The entry of a directory with the lowest number above `after`. False: there is none. */
bool sysfs_next(const struct sysfs *s, uint64_t dir, uint64_t after, struct sysfs_node *ret);
bool sysfs_find(const struct sysfs *s, uint64_t dir, const char *name, struct sysfs_node *ret);
bool sysfs_at(const struct sysfs *s, uint64_t number, struct sysfs_node *ret);
/* The length of the text. -ENODEV: it is there no more; -EBUSY: the device is given away; -ETIMEDOUT; -EISDIR. */
int sysfs_read(struct sysfs *s, uint64_t number, char text[static SYSFS_TEXT]);
/* How many bytes were taken. As sysfs_read(); -EINVAL, -ERANGE: not a value; -EACCES: not to be written. */
int sysfs_write(struct sysfs *s, uint64_t number, const char *p, size_t n);

/* ---- the library (sysfs_mount.c) ------------------------------------------------------ */
/* From libfuse 3.17 on a session is told the version of these headers. */
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 17)
#define SYSFS_FUSE_NEW session_new_versioned
#else
#define SYSFS_FUSE_NEW session_new
#endif
#define SYSFS_FUSE(X, NEW) SYSFS_FUSE_(X, NEW)
/* clang-format off */
#define SYSFS_FUSE_(X, NEW)                                                                                           \
	X(NEW) X(session_mount) X(session_fd) X(session_receive_buf) X(session_process_buf) X(session_unmount)       \
	X(session_destroy) X(opt_free_args) X(set_log_func) X(req_userdata) X(add_direntry)                           \
	X(reply_err) X(reply_entry) X(reply_attr) X(reply_open) X(reply_buf) X(reply_write)
/* clang-format on */
struct sysfs_fuse {
#define X(name) __typeof__(&fuse_##name) name;
	SYSFS_FUSE(X, SYSFS_FUSE_NEW)
#undef X
};
/* Filled by the first sysfs_mount(). */
const struct sysfs_fuse *libfuse(void);

/* ---- the mount (sysfs_mount.c) -------------------------------------------------------- */
struct sysfs_mount {
	struct fuse_session *session; /* NULL: none */
	char *dir;                    /* as it is found from anywhere */
	bool mounted;
	/* root's mount: the directory, whatever it is called by now; and which mount is ours. -1: fusermount3 mounts */
	int at;
	uint64_t id;
	uint32_t dev_major, dev_minor;
	/* who takes the mount away when this process can't: a child that waits for the end of a stream */
	int guard; /* our end, or -1 */
	pid_t guard_pid;
};
/* m is zeroed, but for m->guard and m->at, which are -1; what was made is undone by sysfs_unmount(), on failure too.
 * -TALLY_EINVAL: not an empty directory; -TALLY_ENOTSUP: no FUSE; -TALLY_EPERM. */
int sysfs_mount(struct sysfs_mount *m, const struct fuse_lowlevel_ops *op, void *userdata, const char *dir,
		struct err *e);
/* Takes the mount away, which is then answered no more. -TALLY_EIO with words: somebody's other mount lies over it, so
 * it stays. */
int sysfs_detach(struct sysfs_mount *m, struct err *e);
void sysfs_unmount(struct sysfs_mount *m);

#endif
