/*
 * file.c: the files that processes map.
 *
 * A file is known by device, inode and path, and is opened the first time
 * somebody maps it: by the time a name is asked for, the file may be deleted
 * or replaced, and the process whose mount namespace shows it may be gone.  One
 * open per distinct file is cheap; reading waits until an address is asked for.
 * Only FILES_FDS_MOST descriptors are kept; the files beyond are opened when asked for.
 *
 * An opened file is taken only if it has the inode that was mapped: no name is
 * better than a wrong one.  (On an overlay the two numbers may differ, and are
 * not compared.)  Two files with the same build id are one: the names of a
 * program and of its copy in a container fall together.
 */
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "symbol/symbol_int.h"

#define PATH_MOST 4096u

static const char gone_mark[] = " (deleted)";

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

/* fd if it is of a regular file with that inode (0: any); else it is closed, and -1. */
static int keep_inode(int fd, uint64_t inode)
{
	struct stat st;
	struct statfs fs;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		if (!inode || st.st_ino == inode)
			return fd;
		if (fstatfs(fd, &fs) == 0 && fs.f_type == OVERLAYFS_SUPER_MAGIC)
			return fd;
	}
	close(fd);
	return -1;
}

static int file_open(const struct file *f)
{
	char marked[PATH_MOST + sizeof(gone_mark)];
	int fd = keep_inode(k_mapped_file(f->pid, f->path), f->inode);

	if (fd >= 0)
		return fd;
	snprintf(marked, sizeof(marked), "%s%s", f->path, gone_mark);
	return keep_inode(k_mapped_file(f->pid, marked), f->inode);
}

static struct file *file_new(struct files *f, const struct k_task *t, const struct key *k, size_t path_len)
{
	struct file *file = mem_alloc(sizeof(*file));
	const char *slash = strrchr(k->path, '/');

	if (!file)
		return NULL;
	file->id = f->n + 1;
	file->inode = t->inode;
	file->pid = t->pid;
	file->fd = -1;
	file->vdso = k->path[0] == '[';
	file->same = file;
	file->path = arena_strndup(&f->names.pages, k->path, path_len);
	file->mod = names_add(&f->names, slash ? slash + 1 : k->path, strlen(slash ? slash + 1 : k->path));
	if (!file->path || !file->mod) {
		mem_free(file);
		return NULL;
	}
	if (!file->vdso && f->fds < FILES_FDS_MOST && (file->fd = file_open(file)) >= 0)
		f->fds++;
	return file;
}

struct file *files_see(struct files *f, const struct k_task *t, bool *lost)
{
	struct file *file;
	struct key k;
	size_t n;
	void **at;

	if (t->path[0] != '/' && strcmp(t->path, "[vdso]"))
		return NULL;
	n = key_of(t, &k);
	file = n ? map_get(&f->by_key, &k, n) : NULL;
	if (file)
		return file;
	at = n && f->n < FILES_MOST ? map_at(&f->by_key, &k, n) : NULL;
	if (at)
		*at = file = file_new(f, t, &k, n - offsetof(struct key, path));
	if (file)
		f->n++;
	else
		*lost = true;
	return file;
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

/* The first file of that build id. */
static struct file *file_namesake(struct files *f, struct file *file)
{
	const struct object *o = file->object;
	void **at = o->build_id_len ? map_at(&f->by_build_id, o->build_id, o->build_id_len) : NULL;

	if (!at)
		return file;
	if (!*at)
		*at = file;
	return *at;
}

static void object_drop(struct file *file)
{
	if (file->object)
		object_free(file->object);
	mem_free(file->object);
	file->object = NULL;
}

static void read_bytes(struct files *f, struct file *file, const struct object_bytes *b)
{
	file->object = mem_alloc(sizeof(*file->object));
	if (!file->object || object_ident(file->object, b) < 0) {
		object_drop(file);
		return;
	}
	file->same = file_namesake(f, file);
	if (file->same != file)
		object_drop(file);
	else
		object_symbols(file->object, b);
}

struct file *files_read(struct files *f, struct file *file)
{
	struct object_bytes b = { .fd = -1 };

	if (file->tried)
		return file->same;
	file->tried = true;
	if (file->vdso) {
		if (vdso_bytes(&b))
			read_bytes(f, file, &b);
		return file->same;
	}
	b.fd = file->fd >= 0 ? file->fd : file_open(file);
	f->fds -= file->fd >= 0;
	file->fd = -1;
	if (b.fd >= 0) {
		read_bytes(f, file, &b);
		close(b.fd);
	}
	return file->same;
}

void files_free(struct files *f)
{
	const void *key;
	size_t i = 0, len;
	void *val;

	while (map_next(&f->by_key, &i, &key, &len, &val)) {
		struct file *file = val;

		if (!file)
			continue;
		object_drop(file);
		if (file->fd >= 0)
			close(file->fd);
		mem_free(file);
	}
	map_free(&f->by_key);
	map_free(&f->by_build_id);
	names_free(&f->names);
	*f = (struct files){ 0 };
}
