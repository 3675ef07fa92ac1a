/*
 * sysfs.c: the sysfs server: the PMUs' files in a directory, for scripts that know them from Linux.
 *
 * The kernel asks for one thing at a time through FUSE's descriptor and is answered at once, by the
 * conductor's thread.  It is told to keep nothing: names, attributes and contents
 * are asked for each time, so that what is read is what the machine has at that moment.
 * The kernel checks the modes; what goes beyond them is refused in sysfs' words: nothing can be made, moved or removed,
 * and a file without permission to write can't be opened for it by root either.
 *
 * As in sysfs a file is truncated without effect, written as a whole whatever the
 * offset, and read as a whole: a second read continues what is then in it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "attach/sysfs_int.h"

#define REQUESTS_AT_ONCE 64 /* of one serve() */
#define LISTING_MOST 4096u  /* bytes of one reply */

struct sysfs_server {
	struct server server;
	struct sysfs tree;
	struct sysfs_mount mount;
	struct fuse_buf request; /* libfuse's memory */
	struct timespec born;
};

static struct sysfs_server *server_of(fuse_req_t req)
{
	return libfuse()->req_userdata(req);
}

/* ---- attributes ------------------------------------------------------------------------------ */

static struct stat sysfs_node_stat(const struct sysfs_server *d, const struct sysfs_node *n)
{
	return (struct stat){
		.st_ino = n->number,
		.st_mode = (n->dir ? S_IFDIR : S_IFREG) | n->mode,
		.st_nlink = n->dir ? 2 + n->ndirs : 1,
		.st_uid = geteuid(),
		.st_gid = getegid(),
		.st_size = n->dir ? 0 : SYSFS_PAGE,
		.st_blksize = SYSFS_PAGE,
		.st_atim = d->born,
		.st_mtim = d->born,
		.st_ctim = d->born,
	};
}

static void on_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	const struct sysfs_server *d = server_of(req);
	struct fuse_entry_param e = { 0 };
	struct sysfs_node n;

	if (!sysfs_find(&d->tree, parent, name, &n)) {
		libfuse()->reply_err(req, ENOENT);
		return;
	}
	e.ino = n.number;
	e.attr = sysfs_node_stat(d, &n);
	libfuse()->reply_entry(req, &e);
}

static void reply_attr(fuse_req_t req, fuse_ino_t ino)
{
	const struct sysfs_server *d = server_of(req);
	struct sysfs_node n;
	struct stat st;

	if (!sysfs_at(&d->tree, ino, &n)) {
		libfuse()->reply_err(req, ENOENT);
		return;
	}
	st = sysfs_node_stat(d, &n);
	libfuse()->reply_attr(req, &st, 0);
}

static void on_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)fi;
	reply_attr(req, ino);
}

/* Sizes and times are taken without effect; whose a file is, and who may what, does not change. */
static void on_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int what, struct fuse_file_info *fi)
{
	(void)attr;
	(void)fi;
	if (what & (FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID)) {
		libfuse()->reply_err(req, EPERM);
		return;
	}
	reply_attr(req, ino);
}

/* ---- files ------------------------------------------------------------------------------------ */

static void on_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	const struct sysfs_server *d = server_of(req);
	const bool writes = (fi->flags & O_ACCMODE) != O_RDONLY, reads = (fi->flags & O_ACCMODE) != O_WRONLY;
	struct sysfs_node n;

	if (!sysfs_at(&d->tree, ino, &n)) {
		libfuse()->reply_err(req, ENODEV);
		return;
	}
	if ((writes && !(n.mode & 0222)) || (reads && !(n.mode & 0444))) {
		libfuse()->reply_err(req, EACCES);
		return;
	}
	fi->direct_io = 1;
	libfuse()->reply_open(req, fi);
}

static void on_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct sysfs_server *d = server_of(req);
	char text[SYSFS_TEXT];
	int n = sysfs_read(&d->tree, ino, text);
	size_t from = n > 0 && (uint64_t)off < (size_t)n ? (size_t)off : (size_t)(n > 0 ? n : 0);

	(void)fi;
	if (n < 0)
		libfuse()->reply_err(req, -n);
	else
		libfuse()->reply_buf(req, text + from, (size_t)n - from < size ? (size_t)n - from : size);
}

static void on_write(fuse_req_t req, fuse_ino_t ino, const char *p, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct sysfs_server *d = server_of(req);
	int rc = sysfs_write(&d->tree, ino, p, size);

	(void)off;
	(void)fi;
	if (rc < 0)
		libfuse()->reply_err(req, -rc);
	else
		libfuse()->reply_write(req, (size_t)rc);
}

/* ---- directories --------------------------------------------------------------------------------- */

struct listing {
	fuse_req_t req;
	char p[LISTING_MOST];
	size_t n, room;
};

/* False: no room. `next` is where a listing that stopped here goes on. */
static bool sysfs_list_entry(struct listing *l, const char *name, const struct sysfs_node *n, off_t next)
{
	const struct stat st = { .st_ino = n->number, .st_mode = n->dir ? S_IFDIR : S_IFREG };
	size_t size = libfuse()->add_direntry(l->req, l->p + l->n, l->room - l->n, name, &st, next);

	if (size > l->room - l->n)
		return false;
	l->n += size;
	return true;
}

/* Offsets are 1 and 2 behind the two dots, and the number of an entry behind that. */
static void list_from(struct listing *l, const struct sysfs *s, const struct sysfs_node *dir, off_t off)
{
	struct sysfs_node n = *dir, up = *dir;

	sysfs_at(s, dir->parent, &up);
	if (off == 0 && !sysfs_list_entry(l, ".", dir, 1))
		return;
	if (off <= 1 && !sysfs_list_entry(l, "..", &up, 2))
		return;
	n.number = off <= 2 ? 2 : (uint64_t)off;
	while (sysfs_next(s, dir->number, n.number, &n) && sysfs_list_entry(l, n.name, &n, (off_t)n.number))
		;
}

static void on_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct listing l = { .req = req, .room = size < LISTING_MOST ? size : LISTING_MOST };
	const struct sysfs_server *d = server_of(req);
	struct sysfs_node n;

	(void)fi;
	if (!sysfs_at(&d->tree, ino, &n) || !n.dir) {
		libfuse()->reply_err(req, ENOTDIR);
		return;
	}
	list_from(&l, &d->tree, &n, off);
	libfuse()->reply_buf(req, l.p, l.n);
}

/* ---- what sysfs has not ----------------------------------------------------------------------------- */

static void sysfs_reply_error(fuse_req_t req, int why)
{
	libfuse()->reply_err(req, why);
}
static void on_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t dev)
{
	(void)parent, (void)name, (void)mode, (void)dev;
	sysfs_reply_error(req, EACCES);
}
static void on_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi)
{
	(void)parent, (void)name, (void)mode, (void)fi;
	sysfs_reply_error(req, EACCES);
}
static void on_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	(void)parent, (void)name, (void)mode;
	sysfs_reply_error(req, EPERM);
}
static void on_remove(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	(void)parent, (void)name;
	sysfs_reply_error(req, EPERM);
}
static void on_rename(fuse_req_t req, fuse_ino_t from, const char *a, fuse_ino_t to, const char *b, unsigned flags)
{
	(void)from, (void)a, (void)to, (void)b, (void)flags;
	sysfs_reply_error(req, EPERM);
}
static void on_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name)
{
	(void)target, (void)parent, (void)name;
	sysfs_reply_error(req, EPERM);
}
static void on_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name)
{
	(void)ino, (void)parent, (void)name;
	sysfs_reply_error(req, EPERM);
}

static const struct fuse_lowlevel_ops requests = {
	.lookup = on_lookup,
	.getattr = on_getattr,
	.setattr = on_setattr,
	.open = on_open,
	.read = on_read,
	.write = on_write,
	.readdir = on_readdir,
	.mknod = on_mknod,
	.create = on_create,
	.mkdir = on_mkdir,
	.unlink = on_remove,
	.rmdir = on_remove,
	.rename = on_rename,
	.symlink = on_symlink,
	.link = on_link,
};

/* ---- the server ------------------------------------------------------------------------------------------ */

static int local_server_fd(struct server *server)
{
	const struct sysfs_server *d = (struct sysfs_server *)server;

	return libfuse()->session_fd(d->mount.session);
}

static int local_server_serve(struct server *server, struct err *e)
{
	struct sysfs_server *d = (struct sysfs_server *)server;

	for (int i = 0; i < REQUESTS_AT_ONCE; i++) {
		int n = libfuse()->session_receive_buf(d->mount.session, &d->request);

		if (n == -EINTR)
			continue;
		if (n == -EAGAIN)
			return 0;
		if (n == 0)
			return err_set(e, TALLY_EEND, "%s: unmounted by another program", d->mount.dir);
		if (n < 0)
			return err_set(e, TALLY_EIO, "%s: %s", d->mount.dir, strerror(-n));
		libfuse()->session_process_buf(d->mount.session, &d->request);
	}
	return 0;
}

static int local_server_leave(struct server *server, struct err *e)
{
	return sysfs_detach(&((struct sysfs_server *)server)->mount, e);
}

static void local_server_close(struct server *server)
{
	struct sysfs_server *d = (struct sysfs_server *)server;

	sysfs_unmount(&d->mount);
	free(d->request.mem);
	sysfs_close(&d->tree);
	mem_free(d);
}

/* Nothing has to be handed over when time has passed. */
static const struct server_ops server_ops = { local_server_fd,    local_server_serve, NULL, NULL,
					      local_server_leave, local_server_close };

int server_open_sysfs(struct server **ret, struct kunpeng *k, const char *dir, struct err *e)
{
	struct sysfs_server *d = mem_alloc(sizeof(*d));
	int rc;

	if (!d)
		return err_oom(e);
	d->server.op = &server_ops;
	d->mount.guard = d->mount.at = -1;
	clock_gettime(CLOCK_REALTIME, &d->born);
	if ((rc = sysfs_open(&d->tree, k, e)) < 0 || (rc = sysfs_mount(&d->mount, &requests, d, dir, e)) < 0) {
		local_server_close(&d->server);
		return rc;
	}
	*ret = &d->server;
	return 0;
}
