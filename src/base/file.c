/*
 * file.c: files and streams in windows, and libraries loaded late.
 *
 * Both kinds of input go through one buffer.  A regular file's holds the bytes last
 * asked for, and a little more when they were few.  What can't be read at an offset (a pipe,
 * a device, what a decompressor gives) fills its buffer in order, and the bytes behind the
 * farthest offset asked for stay for BYTES_KEEP, so that a parser may look back a little;
 * an offset far ahead is read up to and thrown away.
 *
 * A file is not mapped: one that shrinks while it is read would be a SIGBUS, which a
 * library may not catch, and one that is written meanwhile could change under a parser that
 * has checked it.  The copy stays in the cache: it costs a twentieth of counting the
 * records that are in it, and eight MiB less are resident.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define AHEAD (64u << 10) /* read when less was asked for: records are small */
#define STREAM (BYTES_KEEP + 3 * BYTES_WINDOW)
static_assert(AHEAD <= BYTES_WINDOW, "it fits the buffer");

static size_t file_least_size(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- a regular file --------------------------------------------------------------- */

struct file_in {
	int fd;
	uint64_t size;  /* of the file: what it was, or less once it was found to have shrunk */
	uint8_t *p;     /* BYTES_WINDOW, or the whole file when that is less */
	uint64_t start; /* offset of p[0] */
	size_t have;
	struct bytes_in stream; /* not a regular file: arg is not NULL */
};

static int window_fill(struct file_in *f, uint64_t off, size_t n)
{
	ssize_t got = 1;

	n = file_least_size(n < AHEAD ? AHEAD : n, f->size - off);
	f->start = off;
	f->have = 0;
	while (got && f->have < n) {
		got = pread(f->fd, f->p + f->have, n - f->have, (off_t)(off + f->have));
		if (got < 0 && errno != EINTR)
			return -TALLY_EIO;
		f->have += got > 0 ? (size_t)got : 0;
	}
	if (!got)
		f->size = off + f->have;
	return 0;
}

static int64_t window_at(void *arg, uint64_t off, size_t n, const uint8_t **p)
{
	struct file_in *f = arg;

	assert(n <= BYTES_WINDOW);
	if (off >= f->size)
		return 0;
	n = file_least_size(n, f->size - off);
	if (off < f->start || off - f->start > f->have || f->have - (off - f->start) < n) {
		int rc = window_fill(f, off, n);
		if (rc < 0)
			return rc;
		n = file_least_size(n, f->have);
	}
	*p = f->p + (off - f->start);
	return (int64_t)n;
}

static int64_t fd_read(void *arg, uint8_t *p, size_t n)
{
	const struct file_in *f = arg;
	ssize_t got;

	do
		got = read(f->fd, p, n);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -TALLY_EIO : got;
}

static int64_t piped_at(void *arg, uint64_t off, size_t n, const uint8_t **p)
{
	const struct file_in *f = arg;

	return f->stream.at(f->stream.arg, off, n, p);
}

static int file_in_start(struct file_in *f, struct bytes_in *ret)
{
	struct stat st;
	int rc = fstat(f->fd, &st) < 0 ? -TALLY_EIO : 0;

	if (rc == 0 && S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return -TALLY_EIO;
	}
	if (rc == 0 && S_ISREG(st.st_mode)) {
		f->p = mem_alloc(file_least_size(BYTES_WINDOW, (uint64_t)st.st_size + 1));
		if (!f->p)
			return -TALLY_ENOMEM;
		(void)posix_fadvise(f->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
		f->size = (uint64_t)st.st_size;
		*ret = (struct bytes_in){ .arg = f, .at = window_at, .size = f->size };
	} else if (rc == 0 && (rc = stream_in_open(&f->stream, fd_read, f)) == 0) {
		*ret = (struct bytes_in){ .arg = f, .at = piped_at, .size = UINT64_MAX };
	}
	return rc;
}

int file_in_open(struct bytes_in *ret, const char *path, struct err *e)
{
	struct file_in *f = mem_alloc(sizeof(*f));
	int rc;

	if (!f)
		return err_oom(e);
	f->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) :
				    fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	rc = f->fd < 0 ? -TALLY_EIO : file_in_start(f, ret);
	if (rc == 0)
		return 0;
	rc = rc == -TALLY_ENOMEM ? err_oom(e) : err_set(e, TALLY_EIO, "%s: %s", path, strerror(errno));
	if (f->fd >= 0)
		close(f->fd);
	mem_free(f->p);
	mem_free(f);
	return rc;
}

void file_in_close(struct bytes_in *in)
{
	struct file_in *f = in->arg;

	if (!f)
		return;
	mem_free(f->p);
	stream_in_close(&f->stream);
	close(f->fd);
	mem_free(f);
	in->arg = NULL;
}

/* What was read is the caller's, unless it failed (rc) or is too long: then it is freed. */
static int file_keep(struct buf *all, int rc, const char *path, size_t most, uint8_t **ret, size_t *n, struct err *e)
{
	if (rc == 0 && all->failed)
		rc = err_oom(e);
	else if (rc == 0 && all->n > most)
		rc = err_set(e, TALLY_EINVAL, "%s is longer than %zu bytes", path, most);
	if (rc < 0) {
		buf_free(all);
		return rc;
	}
	*n = all->n;
	*ret = (uint8_t *)all->p;
	return 0;
}

int file_read_all(const char *path, size_t most, uint8_t **ret, size_t *n, struct err *e)
{
	struct buf all = { 0 };
	struct bytes_in in;
	const uint8_t *p;
	int64_t got;
	int rc = file_in_open(&in, path, e);

	if (rc < 0)
		return rc;
	do {
		got = in.at(in.arg, all.n, BYTES_WINDOW, &p);
		if (got > 0)
			buf_put(&all, p, (size_t)got);
	} while (got > 0 && all.n <= most && !all.failed);
	if (got < 0)
		rc = err_set(e, TALLY_EIO, "%s can't be read: %s", path, strerror(errno));
	file_in_close(&in);
	return file_keep(&all, rc, path, most, ret, n, e);
}

static int file_check_owner(const char *path, const struct stat *st, struct err *e)
{
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return err_set(e, TALLY_EPERM,
			       "%s belongs to user %u: it must belong to root or to user %u, as whom tally runs", path,
			       (unsigned)st->st_uid, (unsigned)geteuid());
	/* In a sticky directory others may not touch what is not theirs. */
	if (st->st_mode & (S_IWGRP | S_IWOTH) && !(S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX))
		return err_set(e, TALLY_EPERM, "%s: its group or others may write it; as its owner: chmod go-w %s",
			       path, path);
	return 0;
}

int dir_check_owned(const char *path, struct err *e)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return err_set(e, TALLY_EIO, "%s: %s", path, strerror(errno));
	return file_check_owner(path, &st, e);
}

bool file_others_may_read(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_mode & S_IROTH;
}

int file_read_owned(const char *path, size_t most, uint8_t **ret, size_t *n, struct err *e)
{
	/* one open for the question and the bytes; O_NONBLOCK: it may be a FIFO */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	struct buf all = { 0 };
	ssize_t got = -1;
	int rc = 0;

	if (fd < 0)
		return err_set(e, TALLY_EIO, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		rc = err_set(e, TALLY_EINVAL, "%s is not a regular file", path);
	else
		rc = file_check_owner(path, &st, e);
	while (rc == 0 && all.n <= most && !all.failed) {
		char part[4096];

		got = read(fd, part, sizeof(part));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		buf_put(&all, part, (size_t)got);
	}
	if (rc == 0 && got < 0)
		rc = err_set(e, TALLY_EIO, "%s can't be read: %s", path, strerror(errno));
	close(fd);
	return file_keep(&all, rc, path, most, ret, n, e);
}

/* ---- a stream --------------------------------------------------------------------- */

struct stream_in {
	int64_t (*read)(void *arg, uint8_t *p, size_t n);
	void *arg;
	uint64_t start; /* offset of p[0] */
	size_t have;
	bool ended;
	uint8_t p[STREAM];
};

/* Forgets what is BYTES_KEEP or more behind `off`. */
static void stream_forget(struct stream_in *s, uint64_t off)
{
	uint64_t keep_from = off > BYTES_KEEP ? off - BYTES_KEEP : 0;
	size_t n;

	if (keep_from <= s->start)
		return;
	n = file_least_size(keep_from - s->start, s->have);
	memmove(s->p, s->p + n, s->have - n);
	s->start += n;
	s->have -= n;
}

static int stream_fill(struct stream_in *s, uint64_t off)
{
	int64_t got;

	if (s->have == STREAM)
		stream_forget(s, off);
	got = s->read(s->arg, s->p + s->have, STREAM - s->have);
	if (got < 0)
		return -TALLY_EIO;
	s->ended = got == 0;
	s->have += (size_t)got;
	return 0;
}

static int64_t stream_at(void *arg, uint64_t off, size_t n, const uint8_t **p)
{
	struct stream_in *s = arg;

	assert(n <= BYTES_WINDOW);
	if (off < s->start)
		return -TALLY_EIO;
	while (!s->ended && (off - s->start > s->have || s->have - (off - s->start) < n)) {
		int rc = stream_fill(s, off);
		if (rc < 0)
			return rc;
	}
	if (off - s->start >= s->have)
		return 0;
	*p = s->p + (off - s->start);
	return (int64_t)file_least_size(n, s->have - (off - s->start));
}

int stream_in_open(struct bytes_in *ret, int64_t (*read)(void *arg, uint8_t *p, size_t n), void *arg)
{
	struct stream_in *s = mem_alloc(sizeof(*s));

	if (!s)
		return -TALLY_ENOMEM;
	s->read = read;
	s->arg = arg;
	*ret = (struct bytes_in){ .arg = s, .at = stream_at, .size = UINT64_MAX };
	return 0;
}

void stream_in_close(struct bytes_in *in)
{
	mem_free(in->arg);
	in->arg = NULL;
}

/* ---- a file to write -------------------------------------------------------------- */

#define INHERITED_MOST 1024 /* descriptors that are looked at: a shell hands over small numbers */

int file_inherited(const char *path)
{
	struct stat named, st;
	int flags;

	if (stat(path, &named) < 0 || !S_ISREG(named.st_mode))
		return -1;
	for (int fd = 0; fd < INHERITED_MOST; fd++) {
		flags = fcntl(fd, F_GETFL);
		if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || (flags & O_PATH))
			continue;
		if (fstat(fd, &st) == 0 && st.st_dev == named.st_dev && st.st_ino == named.st_ino)
			return fd;
	}
	return -1;
}

int file_write_open(const char *path, enum file_origin *origin)
{
	int fd = file_inherited(path);

	*origin = FILE_INHERITED;
	if (fd >= 0)
		return fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	*origin = FILE_FOUND;
	fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd >= 0 || errno != ENOENT)
		return fd;
	*origin = FILE_MADE;
	return open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
}

struct file_out {
	int fd;
};

static int out_put(void *arg, const void *p, size_t n)
{
	const struct file_out *f = arg;

	for (const uint8_t *from = p; n;) {
		ssize_t done = write(f->fd, from, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -TALLY_EIO;
		from += done;
		n -= (size_t)done;
	}
	return 0;
}

static int out_patch(void *arg, uint64_t off, const void *p, size_t n)
{
	const struct file_out *f = arg;

	return pwrite(f->fd, p, n, (off_t)off) == (ssize_t)n ? 0 : -TALLY_EIO;
}

int file_out_open(struct bytes_out *ret, const char *path, struct err *e)
{
	bool named = strcmp(path, "-");
	enum file_origin origin = FILE_INHERITED;
	struct file_out *f = mem_alloc(sizeof(*f));
	struct stat st;

	if (!f)
		return err_oom(e);
	f->fd = named ? file_write_open(path, &origin) : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (f->fd < 0) {
		mem_free(f);
		return err_set(e, TALLY_EIO, "%s: %s", path, strerror(errno));
	}
	*ret = (struct bytes_out){ .arg = f, .put = out_put };
	/* A file that somebody else opened may be one that is appended to: its start need not be ours. */
	if (origin != FILE_INHERITED && fstat(f->fd, &st) == 0 && S_ISREG(st.st_mode) && ftruncate(f->fd, 0) == 0)
		ret->patch = out_patch;
	return 0;
}

int file_out_empty(struct bytes_out *out)
{
	const struct file_out *f = out->arg;

	return ftruncate(f->fd, 0) < 0 || lseek(f->fd, 0, SEEK_SET) < 0 ? -TALLY_EIO : 0;
}

int file_out_close(struct bytes_out *out)
{
	struct file_out *f = out->arg;
	int rc;

	if (!f)
		return 0;
	rc = close(f->fd) < 0 ? -TALLY_EIO : 0;
	mem_free(f);
	out->arg = NULL;
	return rc;
}

/* ---- what several processes share ------------------------------------------------- */

int file_lock(const char *path)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600), saved;
	struct stat named, st;

	if (fd < 0)
		return fd;
	if (fcntl(fd, F_OFD_SETLK, &whole) < 0)
		saved = errno == EACCES ? EAGAIN : errno;
	else if (fstat(fd, &st) == 0 && stat(path, &named) == 0 && named.st_dev == st.st_dev &&
		 named.st_ino == st.st_ino)
		return fd;
	else
		saved = EAGAIN;
	close(fd);
	errno = saved;
	return -1;
}

int file_make_parents(const char *path, struct err *e)
{
	char *copy = mem_strdup(path);
	int rc = copy ? 0 : err_oom(e);

	for (char *slash = copy ? strchr(copy + 1, '/') : NULL; rc >= 0 && slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0777) < 0 && errno != EEXIST)
			rc = err_set(e, TALLY_EIO, "failed to make the directory %s: %s", copy, strerror(errno));
		*slash = '/';
	}
	mem_free(copy);
	return rc;
}

/* What is in the file, or in the directory, is on the disk. */
static int path_sync(const char *path, int flags)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | flags);
	int rc = fd < 0 ? -1 : fsync(fd), saved = errno;

	if (fd >= 0)
		close(fd);
	errno = saved;
	return rc;
}

int file_promote(const char *temporary, const char *path, struct err *e)
{
	char *parent = mem_strdup(path), *slash = parent ? strrchr(parent, '/') : NULL;
	int rc = 0;

	if (!parent)
		return err_oom(e);
	if (path_sync(temporary, O_NOFOLLOW) < 0)
		rc = err_set(e, TALLY_EIO, "failed to write %s: %s", temporary, strerror(errno));
	else if (rename(temporary, path) < 0)
		rc = err_set(e, TALLY_EIO, "failed to rename %s to %s: %s", temporary, path, strerror(errno));
	if (slash)
		slash[slash == parent] = '\0';
	if (rc >= 0) /* some file systems have no directory that could be synced */
		(void)path_sync(slash ? parent : ".", O_DIRECTORY);
	mem_free(parent);
	return rc;
}

int dir_each(const char *path, int (*each)(void *arg, const char *name), void *arg)
{
	DIR *d = opendir(path);
	struct dirent *entry;
	int rc = 0;

	if (!d)
		return -TALLY_EIO;
	while (rc >= 0 && (entry = readdir(d)))
		rc = each(arg, entry->d_name);
	closedir(d);
	return rc < 0 ? rc : 0;
}

/* ---- libraries -------------------------------------------------------------------- */

#ifdef TALLY_NO_DLOPEN

bool library_load(const char *soname, const char *const *name, void **fn, size_t n)
{
	(void)soname, (void)name, (void)fn, (void)n;
	return false;
}

#else

#include <dlfcn.h>

bool library_load(const char *soname, const char *const *name, void **fn, size_t n)
{
	void *lib = dlopen(soname, RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; lib && i < n; i++)
		if (!(fn[i] = dlsym(lib, name[i]))) {
			dlclose(lib);
			lib = NULL;
		}
	return lib != NULL;
}

#endif
