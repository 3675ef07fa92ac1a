/*
 * sysfs_mount.c: a mount of a FUSE file system that never outlives its server.
 *
 * libfuse is loaded when it is first needed: to be linked with it would cost every start of
 * the program.  The table of its functions belongs to the process, as the library does: a request is handed to
 * us with nothing from which the table could be found.  It is filled once and then only read.  The
 * library's messages go nowhere, for ours doesn't print.
 *
 * A server that is killed leaves its mount, on which every access fails until somebody
 * unmounts it.  So a child waits at a socket whose other end only this process has: a byte says
 * that the mount is gone, the end of the stream that the server is, and then the child unmounts
 * it.  It is in a session of its own, out of reach of what a terminal
 * sends and of a kill of the process group.
 *
 * Root mounts for all users, so that the files' modes mean what they mean in sysfs. Anybody else
 * needs fusermount3, and what is mounted is for him alone.
 *
 * A path is not the directory: who owns a directory above it may rename that and put another mount in its place. So
 * root holds the directory by a descriptor, mounts on that, and notes the number of the mount.  To detach, the
 * directory's present path is asked of the kernel, and only a mount with our number is detached, by the descriptor that
 * was looked at.  The mount itself is not held, since nobody could unmount it then.
 *
 * A mount that somebody else put over ours stays, and so does ours below it: the kernel detaches a mount together with
 * all that is mounted on it.  The caller is told, so that somebody mends it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/sysfs_int.h"
#include "base/file.h"

#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 17)
#define SONAME "libfuse3.so.4"
#define PACKAGE "libfuse3-4"
#else
#define SONAME "libfuse3.so.3"
#define PACKAGE "libfuse3-3"
#endif
#define DETACH_TURNS 1000
#define OPTIONS "fsname=tally,subtype=tally,noexec,default_permissions"

/* ---- the library ------------------------------------------------------------------------ */

LIBRARY_NOTE("fuse", "tally machine --sysfs: files of a model", "suggested", SONAME);

static struct sysfs_fuse table;
static bool loaded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char *const names[] = {
#define X(name) "fuse_" #name,
	SYSFS_FUSE(X, SYSFS_FUSE_NEW)
#undef X
};
static_assert(sizeof(table) == COUNT(names) * sizeof(void *), "a table of functions and nothing else");

const struct sysfs_fuse *libfuse(void)
{
	return &table;
}

static int sysfs_load_fuse(struct err *e)
{
	bool ok;

	pthread_mutex_lock(&lock);
	if (!loaded)
		loaded = library_load(SONAME, names, (void **)(void *)&table, COUNT(names));
	ok = loaded;
	pthread_mutex_unlock(&lock);
	return ok ? 0 :
		    err_set(e, TALLY_ENOTSUP,
			    "FUSE's library " SONAME
			    " not found or not usable: " LIBRARY_WHY("Debian's package is " PACKAGE));
}

static void say_nothing(enum fuse_log_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
}

static struct fuse_session *session_new(const struct fuse_lowlevel_ops *op, void *userdata)
{
	char name[] = "tally", o[] = "-o", options[] = OPTIONS; /* of a user's mount; root's has its own */
	char *argv[] = { name, o, options, NULL };
	struct fuse_args args = FUSE_ARGS_INIT(3, argv);
	struct fuse_session *ret;

	table.set_log_func(say_nothing);
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 17)
	struct libfuse_version version = {
		.major = FUSE_MAJOR_VERSION,
		.minor = FUSE_MINOR_VERSION,
		.hotfix = FUSE_HOTFIX_VERSION,
	};
	ret = table.session_new_versioned(&args, op, sizeof(*op), &version, userdata);
#else
	ret = table.session_new(&args, op, sizeof(*op), userdata);
#endif
	table.opt_free_args(&args);
	return ret;
}

/* ---- root's mount --------------------------------------------------------------------------- */

/* "/dev/fd/N", by which a descriptor is reached where a path is wanted. Without the library's printf: also between
 * fork() and exec(). */
static const char *fd_path(char to[static 24], int fd)
{
	char digits[12];
	size_t n = 0, at = strlen("/dev/fd/");

	memcpy(to, "/dev/fd/", at);
	do
		digits[n++] = (char)('0' + fd % 10);
	while ((fd /= 10) > 0);
	while (n > 0)
		to[at++] = digits[--n];
	to[at] = '\0';
	return to;
}

/* Which mount fd is of. Its server is not asked, which may be this thread, or dead. */
static bool mount_number(int fd, struct statx *st)
{
	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, st) == 0 && st->stx_mask & STATX_MNT_ID;
}

/* A mount of the open connection `fuse` on m->at. -1 and errno. */
static int mount_at(struct sysfs_mount *m, int fuse)
{
	char number[24];
	struct statx st;
	int fs = fsopen("fuse", FSOPEN_CLOEXEC), mount = -1, rc = -1, no;

	if (fs >= 0 && fsconfig(fs, FSCONFIG_SET_STRING, "source", "tally", 0) == 0 &&
	    fsconfig(fs, FSCONFIG_SET_STRING, "subtype", "tally", 0) == 0 &&
	    fsconfig(fs, FSCONFIG_SET_STRING, "fd", fd_path(number, fuse) + strlen("/dev/fd/"), 0) == 0 &&
	    fsconfig(fs, FSCONFIG_SET_STRING, "rootmode", "40000", 0) == 0 &&
	    fsconfig(fs, FSCONFIG_SET_STRING, "user_id", "0", 0) == 0 &&
	    fsconfig(fs, FSCONFIG_SET_STRING, "group_id", "0", 0) == 0 &&
	    fsconfig(fs, FSCONFIG_SET_FLAG, "allow_other", NULL, 0) == 0 &&
	    fsconfig(fs, FSCONFIG_SET_FLAG, "default_permissions", NULL, 0) == 0 &&
	    fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		mount = fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	if (mount >= 0 && mount_number(mount, &st)) {
		m->id = st.stx_mnt_id;
		m->dev_major = st.stx_dev_major;
		m->dev_minor = st.stx_dev_minor;
		rc = move_mount(mount, "", m->at, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
	}
	no = errno;
	if (mount >= 0)
		close(mount);
	if (fs >= 0)
		close(fs);
	errno = no;
	return rc;
}

/* libfuse takes "/dev/fd/N" for a connection that is mounted already, and leaves the unmounting to us. */
static int mount_by_root(struct sysfs_mount *m)
{
	char name[24];
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fuse < 0)
		return -1;
	if (mount_at(m, fuse) < 0) {
		close(fuse);
		return -1;
	}
	m->mounted = true;
	if (table.session_mount(m->session, fd_path(name, fuse)) == 0)
		return 0;
	close(fuse);
	return -1;
}

static bool mount_is(const struct statx *st, uint64_t id, uint32_t dev_major, uint32_t dev_minor)
{
	return st->stx_mnt_id == id && st->stx_dev_major == dev_major && st->stx_dev_minor == dev_minor;
}

/*
 * Detaches our mount from the directory, wherever that is by now. False: it is still there, below another mount or
 * where no path leads. Only what may be called between fork() and exec(). Each turn of the loop has lost a race with a
 * renaming, or finds another mount in the way.
 */
static bool mount_detach(const struct sysfs_mount *m)
{
	char way[24], path[PATH_MAX];
	struct statx below, st;

	if (!mount_number(m->at, &below))
		return false;
	for (int turn = 0; turn < DETACH_TURNS; turn++) {
		ssize_t n = readlink(fd_path(way, m->at), path, sizeof(path) - 1);
		bool known, ours, gone;
		int fd;

		if (n < 0)
			return false;
		path[n] = '\0';
		fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			continue;
		known = mount_number(fd, &st);
		ours = known && mount_is(&st, m->id, m->dev_major, m->dev_minor);
		gone = known && st.stx_ino == below.stx_ino &&
		       mount_is(&st, below.stx_mnt_id, below.stx_dev_major, below.stx_dev_minor);
		if (ours)
			gone = umount2(fd_path(way, fd), MNT_DETACH) == 0;
		close(fd);
		if (ours || gone)
			return gone;
	}
	return false;
}

/* Whether the kernel has taken our mount away already. */
static bool mount_is_gone(const struct sysfs_mount *m)
{
	struct pollfd fd = { .fd = table.session_fd(m->session) };

	return poll(&fd, 1, 0) == 1 && fd.revents & POLLERR;
}

/* ---- the guard ------------------------------------------------------------------------------ */

/* What was open is let go: the mount's own connection above all, which would keep it alive. The directory stays, as
 * 3. */
static bool stand_apart(int line, int at)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };

	for (size_t i = 0; i < COUNT(signals); i++)
		sigaction(signals[i], &ignore, NULL);
	setsid();
	if (chdir("/") < 0 || (line != 0 && dup2(line, 0) < 0) || (at >= 0 && at != 3 && dup2(at, 3) < 0))
		return false;
	return close_range(1, 2, 0) == 0 && close_range(at < 0 ? 3 : 4, ~0u, 0) == 0 &&
	       open("/dev/null", O_RDWR) == 1 && dup(1) == 2;
}

/* Only what may be called between fork() and exec(): the process may have threads. */
static _Noreturn void stand_guard(int line, const struct sysfs_mount *mount)
{
	struct sysfs_mount m = *mount;
	ssize_t n = 1;
	char c = 0;

	if (stand_apart(line, m.at) && write(0, &c, 1) == 1)
		do
			n = read(0, &c, 1);
		while (n < 0 && errno == EINTR);
	if (n == 0 && m.at >= 0) {
		m.at = 3;
		(void)mount_detach(&m);
	} else if (n == 0) {
		execlp("fusermount3", "fusermount3", "-u", "-q", "-z", "--", m.dir, (char *)NULL);
	}
	_exit(0);
}

static int guard_post(struct sysfs_mount *m, struct err *e)
{
	int fd[2];
	bool stands;
	char c;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) < 0)
		return err_set(e, TALLY_EIO, "%s: %s", m->dir, strerror(errno));
	m->guard_pid = fork();
	if (m->guard_pid == 0) {
		close(fd[1]);
		stand_guard(fd[0], m);
	}
	close(fd[0]);
	m->guard = fd[1];
	stands = m->guard_pid > 0 && TEMP_FAILURE_RETRY(read(fd[1], &c, 1)) == 1;
	return stands ? 0 : err_set(e, TALLY_EIO, "%s: cannot start the child that guards the mount", m->dir);
}

/* The mount is gone already. */
static void guard_dismiss(struct sysfs_mount *m)
{
	if (m->guard < 0)
		return;
	(void)!send(m->guard, "", 1, MSG_NOSIGNAL);
	close(m->guard);
	m->guard = -1;
	while (m->guard_pid > 0 && waitpid(m->guard_pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* ---- the mount -------------------------------------------------------------------------------- */

static int check_empty(const char *dir, struct err *e)
{
	DIR *d = opendir(dir);
	const struct dirent *entry;
	bool empty = true;

	if (!d && errno == ENOTCONN)
		return err_set(e, TALLY_EINVAL,
			       "%s: the server of the file system mounted there has died; unmount it: umount -l %s, or "
			       "fusermount3 -u -z %s",
			       dir, dir, dir);
	if (!d)
		return err_set(e, errno == EACCES ? TALLY_EPERM : TALLY_EINVAL,
			       "%s: %s; --sysfs requires an empty directory", dir, strerror(errno));
	while (empty && (entry = readdir(d)))
		empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	closedir(d);
	return empty ? 0 : err_set(e, TALLY_EINVAL, "%s is not empty; the mount would hide its files", dir);
}

static int check_kernel(struct err *e)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (errno == EACCES || errno == EPERM)
		return err_set(e, TALLY_EPERM, "/dev/fuse: %s; give it mode 0666, and pass it to the container",
			       strerror(errno));
	return err_set(e, TALLY_ENOTSUP, "/dev/fuse: %s: this kernel has no FUSE, or has not loaded it (modprobe fuse)",
		       strerror(errno));
}

static int find_dir(struct sysfs_mount *m, const char *dir, struct err *e)
{
	char path[PATH_MAX];

	if (!realpath(dir, path))
		strcpy(path, errno == ENOTCONN && strlen(dir) < sizeof(path) ? dir : "");
	m->dir = mem_strdup(*path ? path : dir);
	return m->dir ? 0 : err_oom(e);
}

int sysfs_mount(struct sysfs_mount *m, const struct fuse_lowlevel_ops *op, void *userdata, const char *dir,
		struct err *e)
{
	int rc;

	if ((rc = sysfs_load_fuse(e)) < 0 || (rc = find_dir(m, dir, e)) < 0 || (rc = check_empty(m->dir, e)) < 0 ||
	    (rc = check_kernel(e)) < 0)
		return rc;
	if (geteuid() == 0 && (m->at = open(m->dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
		return err_set(e, TALLY_EINVAL, "%s: %s", m->dir, strerror(errno));
	m->session = session_new(op, userdata);
	if (!m->session)
		return err_set(e, TALLY_EIO, "%s: FUSE's library opened no session", m->dir);
	if ((m->at >= 0 ? mount_by_root(m) : table.session_mount(m->session, m->dir)) < 0)
		return err_set(e, TALLY_EPERM, "cannot mount on %s: %s", m->dir,
			       geteuid() ? "without root, fusermount3 (Debian's package fuse3) "
					   "and a directory of your own are required" :
					   "CAP_SYS_ADMIN is required");
	m->mounted = true;
	if (fcntl(table.session_fd(m->session), F_SETFL, O_NONBLOCK) < 0)
		return err_set(e, TALLY_EIO, "%s: %s", m->dir, strerror(errno));
	return guard_post(m, e);
}

int sysfs_detach(struct sysfs_mount *m, struct err *e)
{
	bool left = false;

	if (m->mounted && m->at >= 0)
		left = !mount_detach(m) && !mount_is_gone(m);
	else if (m->mounted)
		table.session_unmount(m->session);
	m->mounted = false;
	guard_dismiss(m);
	return left ? err_set(e, TALLY_EIO,
			      "%s: cannot unmount the devices' files: another file system is mounted "
			      "over it; unmount that one, then run 'umount -l %s'",
			      m->dir, m->dir) :
		      0;
}

void sysfs_unmount(struct sysfs_mount *m)
{
	(void)sysfs_detach(m, NULL);
	if (m->at >= 0)
		close(m->at);
	m->at = -1;
	if (m->session)
		table.session_destroy(m->session);
	m->session = NULL;
	mem_free(m->dir);
	m->dir = NULL;
}
