/*
 * file.c: the files that processes map.
 *
 * A file is known by device, inode and path. It is opened when a process first maps it: when a name is asked for, the
 * file may be deleted or replaced, and the process whose mount namespace shows it may be gone. One open per distinct
 * file is cheap; reading waits until an address is asked for. At most FILES_FDS_MOST descriptors are kept for files
 * that nobody asked for, and as many for others; the other files are opened when asked for.
 *
 * A process that ended leads nowhere, but who forked it mostly has the same root directory. What is found there, or
 * under our own root, is another's file of that path as long as inode and device don't say that it is the one.
 *
 * An opened file is used only if it has the inode that was mapped: no name is better than a wrong one. (On an overlay
 * the two numbers may differ, and are not compared where the process itself leads to the file.) Two files with the same
 * build id are one, so that the names of a program and of its copy in a container fall together. Memory files
 * (memfd_create) of one name are distinguished by inode, unless they hold the same content.
 *
 * A file may be overwritten, and its old content is known only if it was read before. So each name is looked up for a
 * time, and the file's size and time of writing are checked again: what was read is right from the last write before
 * the reading to the last time when the file was found unchanged. A writer can set back the time of writing (cp -p),
 * but not the time of the last change (ctime), so that one counts the first time the file is checked. A rename
 * changes ctime as well, and so does a removal, after which nobody can write by the file's name. The clock of files
 * has ticks of some ms: whether a write in the tick of the mapping came before it is unknown, so there is no name
 * either. But a file that was created shortly before (FILE_NEWBORN_NS) is taken for one that was written, and then
 * mapped.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "symbol/symbol_int.h"

#define PATH_MOST 4096u

static const char gone_mark[] = GONE_MARK;

/* ---- which file ---------------------------------------------------------------- */

struct key {
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	char path[PATH_MOST];
};

static size_t key_of(const struct k_task *t, struct key *k)
{
	size_t n = strlen(t->path), m = sizeof(gone_mark) - 1;

	if (n > m && !strcmp(t->path + n - m, gone_mark))
		n -= m;
	if (n >= PATH_MOST)
		return 0;
	k->inode = t->inode;
	k->dev_major = t->dev_major;
	k->dev_minor = t->dev_minor;
	memcpy(k->path, t->path, n);
	k->path[n] = 0;
	return offsetof(struct key, path) + n;
}

/* ---- opening ------------------------------------------------------------------- */

/* Whether fd is of the file that was mapped. own: the process that mapped it led there. */
static bool file_is_mapped_one(const struct file *f, int fd, bool own)
{
	struct stat st;
	struct statfs fs;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || fstatfs(fd, &fs) < 0)
		return false;
	if (own)
		return !f->inode || st.st_ino == f->inode || fs.f_type == OVERLAYFS_SUPER_MAGIC;
	/* these two give each file, or each part of the tree, a device of its own */
	return st.st_ino == f->inode &&
	       (st.st_dev == f->device || fs.f_type == OVERLAYFS_SUPER_MAGIC || fs.f_type == BTRFS_SUPER_MAGIC);
}

/* By the root directory of a process; 0: by ours. -1 and errno: ESRCH: there is no such process. */
static int file_open_under(const struct file *f, uint32_t pid, bool own)
{
	char marked[PATH_MOST + sizeof(gone_mark)];
	int fd = k_mapped_file(pid, f->path);

	if (fd < 0 && pid && errno != ESRCH) {
		snprintf(marked, sizeof(marked), "%s%s", f->path, gone_mark);
		fd = k_mapped_file(pid, marked);
	}
	if (fd < 0 || file_is_mapped_one(f, fd, own))
		return fd;
	close(fd);
	errno = ENOENT;
	return -1;
}

/* -1 and errno: ESRCH: the process is not there any more, and nobody of its kin (NULL: none) leads to the file. */
static int file_open(struct file *f, const struct kin *kin)
{
	int fd = file_open_under(f, f->pid, true), no = errno;

	for (uint32_t i = 0; fd < 0 && kin && i < kin->n; i++)
		if ((fd = file_open_under(f, kin->pid[i], false)) >= 0)
			f->pid = kin->pid[i];
	if (fd < 0)
		fd = file_open_under(f, 0, false);
	f->missing |= fd < 0 && no == ENOENT;
	errno = no;
	return fd;
}

/* ---- what it holds ------------------------------------------------------------- */

/* Whether it held at that time what it held when it was looked at. */
static bool content_held(const struct k_file_state *m, uint64_t time_ns)
{
	if (time_ns < m->written_ns)
		return false;
	return time_ns - m->written_ns >= m->tick_ns || (m->born_ns && time_ns - m->born_ns <= FILE_NEWBORN_NS);
}

/* Who writes to a file may put its mtime back (cp -p), but not its ctime, which a name that comes or goes changes as
 * well. */
static bool content_same(const struct k_file_state *a, const struct k_file_state *b)
{
	return a->at_ns && a->size == b->size && a->mtime_ns == b->mtime_ns &&
	       (a->ctime_ns == b->ctime_ns || a->links != b->links);
}

/* Files that never had a name in a directory: any number have the same path. */
static bool path_is_memory(const char *path)
{
	return !strncmp(path, "/memfd:", 7) || !strncmp(path, "/SYSV", 5) || !strcmp(path, "/dev/zero");
}

static const char *file_mod(struct files *f, const struct file *file, const char *path)
{
	const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
	char text[NAME_MOST];

	if (!file->memory)
		return names_add(&f->names, last, strlen(last));
	snprintf(text, sizeof(text), "%.900s[inode %llu]", last, (unsigned long long)file->inode);
	return names_add(&f->names, text, strlen(text));
}

static struct file *file_new(struct files *f, const struct k_task *t, const struct kin *kin, const struct key *k,
			     size_t path_len)
{
	struct file *file = mem_alloc(sizeof(*file));

	if (!file)
		return NULL;
	file->inode = t->inode;
	file->inode_generation = t->inode_generation;
	file->device = makedev(t->dev_major, t->dev_minor);
	file->pid = t->pid;
	file->fd = -1;
	file->vdso = k->path[0] == '[';
	file->nameless = strlen(t->path) != path_len;
	file->path = arena_strndup(&f->names.pages, k->path, path_len);
	file->memory = path_is_memory(k->path);
	file->mod = file_mod(f, file, k->path);
	if (!file->path || !file->mod) {
		mem_free(file);
		return NULL;
	}
	if (!file->vdso && f->fds < FILES_FDS_MOST && (file->fd = file_open(file, kin)) >= 0) {
		f->fds++;
		if (!k_file_look(file->fd, &file->seen))
			file->seen.at_ns = 0;
	}
	return file;
}

/* Whether t tells of the file, and not of another that was given its inode. */
static bool file_is(struct file *file, const struct k_task *t)
{
	if (!file->inode_generation)
		file->inode_generation = t->inode_generation;
	return !t->inode_generation || file->inode_generation == t->inode_generation;
}

struct file *files_see(struct files *f, const struct k_task *t, const struct kin *kin, bool *lost)
{
	struct file *file;
	struct key k;
	size_t n;
	void **at;

	if (t->path[0] != '/' && strcmp(t->path, "[vdso]"))
		return NULL;
	n = key_of(t, &k);
	file = n ? map_get(&f->by_key, &k, n) : NULL;
	for (struct file *is = file; is; is = is->older)
		if (file_is(is, t))
			return is;
	at = n && f->n < FILES_MOST ? map_at(&f->by_key, &k, n) : NULL;
	if (at && (file = file_new(f, t, kin, &k, n - offsetof(struct key, path)))) {
		file->older = *at;
		*at = file;
		f->n++;
		return file;
	}
	*lost = true;
	return NULL;
}

/* ---- reading ---------------------------------------------------------------------- */

static void take_vdso(void *arg, const struct k_task *t)
{
	struct object_bytes *b = arg;

	if (!strcmp(t->path, "[vdso]")) {
		b->p = (const void *)(uintptr_t)t->addr;
		b->n = t->len;
	}
}

/* The kernel gives the same image to every process of our kind, ourselves included. */
static bool vdso_bytes(struct object_bytes *b)
{
	return k_task_maps((uint32_t)getpid(), take_vdso, b) == 0 && b->p;
}

static void content_free(struct content *c)
{
	lines_close(c->lines);
	if (c->object && !c->borrowed)
		object_free(c->object);
	if (!c->borrowed)
		mem_free(c->object);
	mem_free(c);
}

/* Takes the object of the first content of that build id, if there is one. */
static void content_share(struct files *f, const struct file *file, struct content *c)
{
	const struct object *o = c->object;
	void **at = o->build_id_len ? map_at(&f->by_build_id, o->build_id, o->build_id_len) : NULL;
	struct content *first;

	if (at && !*at)
		*at = c;
	first = at ? *at : c;
	if (file->memory && !first->memory_mod)
		first->memory_mod = file->mod;
	if (first == c)
		return;
	object_free(c->object);
	mem_free(c->object);
	c->object = first->object;
	c->id = first->id;
	c->memory_mod = first->memory_mod;
	c->borrowed = true;
}

/* Reads what is in b as the newest content of the file. NULL: no memory. */
static struct content *content_read(struct files *f, struct file *file, const struct object_bytes *b)
{
	struct content *c = mem_alloc(sizeof(*c));

	if (!c)
		return NULL;
	c->id = ++f->ids;
	c->object = mem_alloc(sizeof(*c->object));
	if (c->object && object_ident(c->object, b) < 0) {
		object_free(c->object);
		mem_free(c->object);
		c->object = NULL;
	}
	if (c->object)
		content_share(f, file, c);
	if (c->object && !c->borrowed)
		object_symbols(c->object, b);
	c->older = file->content;
	file->content = c;
	file->ncontents++;
	return c;
}

/* Since when it has held what mark says, by what is known from before. */
static void content_date(const struct file *file, struct k_file_state *mark)
{
	const struct k_file_state *before = file->content ? &file->content->mark : &file->seen;

	if (content_same(before, mark)) {
		mark->written_ns = before->written_ns;
		mark->tick_ns = before->tick_ns;
		mark->born_ns = before->born_ns;
	} else if (before->at_ns) {
		mark->born_ns = 0; /* it was written more than once */
		if (mark->written_ns < before->at_ns)
			mark->written_ns = before->at_ns;
	}
}

/* Whether the newest content is what the file holds now. */
static bool content_update(struct files *f, struct file *file, int fd)
{
	struct object_bytes b = { .fd = fd, .pid = file->pid, .path = file->path, .ask_servers = f->ask_servers };
	struct k_file_state mark, after;
	struct content *c;

	if (!k_file_look(fd, &mark))
		return false;
	content_date(file, &mark);
	if (!file->content || !content_same(&file->content->mark, &mark)) {
		if (file->ncontents == FILE_CONTENTS_MOST || !(c = content_read(f, file, &b)))
			return false;
		if (!k_file_look(fd, &after) || !content_same(&mark, &after))
			return false; /* it is being written, and what was read never was in it */
	}
	file->content->mark = mark;
	return true;
}

/* Keeps the descriptor of a file that was read, so that it can be asked again. */
static void file_keep(struct files *f, struct file *file, int fd)
{
	if (file->fd >= 0)
		return;
	if (f->fds_read < FILES_FDS_MOST) {
		file->fd = fd;
		f->fds_read++;
	} else {
		close(fd);
	}
}

static enum held files_read_vdso(struct files *f, struct file *file, const struct content **ret)
{
	struct object_bytes b = { .fd = -1 };

	if (!file->content && vdso_bytes(&b))
		(void)content_read(f, file, &b);
	*ret = file->content;
	return *ret ? HELD_THIS : HELD_UNREAD;
}

/* now: the newest content is what the file holds. */
static enum held files_held(const struct file *file, uint64_t since_ns, uint64_t until_ns, bool now,
			    const struct content **ret)
{
	for (const struct content *c = file->content; c; c = c->older) {
		if (content_held(&c->mark, since_ns) && ((now && c == file->content) || until_ns <= c->mark.at_ns)) {
			*ret = c;
			return HELD_THIS;
		}
	}
	return HELD_OTHER;
}

enum held files_read(struct files *f, struct file *file, uint64_t since_ns, uint64_t until_ns,
		     const struct content **ret)
{
	bool now = false;
	int fd = file->fd;

	*ret = NULL;
	if (file->vdso)
		return files_read_vdso(f, file, ret);
	if (f->seen_by_ns && file->content && file->content->mark.at_ns >= f->seen_by_ns)
		return files_held(file, since_ns, until_ns, true, ret);
	if (fd >= 0 && !file->content) {
		f->fds--; /* it changes over to those that were read */
		file->fd = -1;
	}
	if (fd < 0)
		fd = file_open(file, NULL);
	if (fd >= 0) {
		now = content_update(f, file, fd);
		file_keep(f, file, fd);
	}
	if (!file->content)
		return fd >= 0 || file->nameless || (errno != ENOENT && errno != ESRCH) ? HELD_UNREAD :
		       file->missing                                                    ? HELD_GONE :
											  HELD_UNREACHED;
	return files_held(file, since_ns, until_ns, now, ret);
}

const struct table *files_variables(struct files *f, struct file *file, const struct content *of)
{
	struct object_bytes b = { .fd = -1, .pid = file->pid, .path = file->path, .ask_servers = f->ask_servers };
	struct object *o = of->object;

	if (!o || file->vdso)
		return NULL;
	if (!o->variables_tried && of == file->content) { /* else it holds something else now */
		o->variables_tried = true;
		b.fd = file->fd >= 0 ? fcntl(file->fd, F_DUPFD_CLOEXEC, 0) : file_open(file, NULL);
		if (b.fd >= 0) {
			(void)object_variables(o, &b);
			close(b.fd);
		}
	}
	return &o->variables;
}

struct lines *files_lines(struct files *f, struct file *file, const struct content *of)
{
	struct content *c = file->content;
	struct object_bytes b = { .fd = -1, .pid = file->pid, .path = file->path, .ask_servers = f->ask_servers };
	int fd;

	if (!c || c != of || !c->object || file->vdso)
		return NULL; /* it holds something else now */
	if (c->lines_tried)
		return c->lines;
	c->lines_tried = true;
	b.fd = file->fd >= 0 ? fcntl(file->fd, F_DUPFD_CLOEXEC, 0) : file_open(file, NULL);
	if (b.fd < 0)
		return NULL;
	fd = object_debug_file(c->object, &b);
	if (fd >= 0)
		close(b.fd);
	c->lines = lines_open(fd >= 0 ? fd : b.fd, &f->names);
	return c->lines;
}

static void file_free(struct file *file)
{
	for (struct content *c = file->content, *older; c; c = older) {
		older = c->older;
		content_free(c);
	}
	if (file->fd >= 0)
		close(file->fd);
	mem_free(file);
}

void files_free(struct files *f)
{
	const void *key;
	size_t i = 0, len;
	void *val;

	while (map_next(&f->by_key, &i, &key, &len, &val))
		for (struct file *file = val, *older; file; file = older) {
			older = file->older;
			file_free(file);
		}
	map_free(&f->by_key);
	map_free(&f->by_build_id);
	names_free(&f->names);
	*f = (struct files){ 0 };
}
