/*
 * debugfile.c: the file that has what was stripped off another.
 *
 * It is looked for where gdb does, in this order: by build id in /usr/lib/debug/.build-id, by the name in
 * .gnu_debuglink (beside the object, in .debug there, in /usr/lib/debug), and at the servers of debuginfod if the user
 * named some. Each place is looked at under the root directory of the process that maps the object, which may be a
 * container's, then under ours.
 *
 * A file of another build gives wrong names, so it must have the object's build id, or, where the object has none, the
 * checksum that .gnu_debuglink tells. A user could put one with the right id and wrong names where others' programs
 * lie: so it must belong to root, to the object's owner or to us, and nobody else may write it.
 */
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "symbol/symbol_int.h"

#define DEBUG_DIR "/usr/lib/debug"
#define PATH_MOST 4096u
#define LINK_NAME_MOST 255u
#define NOTE_SECTION_MOST 65536u
#define CHECKSUM_FILE_MOST (1ull << 30) /* what has no build id is old, and not that large */
#define READ_BYTES 65536u

struct debug_link {
	char name[LINK_NAME_MOST + 1]; /* "": it has none */
	uint32_t checksum;
};

/* A name and its NUL, zeros up to a multiple of 4, a checksum in the byte order of the file. */
static void debug_link_read(Elf *e, struct debug_link *ret)
{
	Elf_Data *d = section_read(e, ".gnu_debuglink", PATH_MOST);
	size_t n = d && d->d_buf ? strnlen(d->d_buf, d->d_size) : 0, at = (n + 4) & ~(size_t)3;
	const char *ident = elf_getident(e, NULL);
	const uint8_t *sum;

	*ret = (struct debug_link){ 0 };
	if (!n || n > LINK_NAME_MOST || at + 4 > d->d_size || memchr(d->d_buf, '/', n) || !ident)
		return;
	memcpy(ret->name, d->d_buf, n);
	sum = (const uint8_t *)d->d_buf + at;
	for (int i = 0; i < 4; i++)
		ret->checksum |= (uint32_t)sum[i] << (ident[EI_DATA] == ELFDATA2MSB ? 24 - 8 * i : 8 * i);
}

/* ---- whether it is the one --------------------------------------------------------- */

static bool debugfile_has_build_id(int fd, const struct object *o)
{
	Elf *e = elf_begin(fd, ELF_C_READ, NULL);
	size_t at = 0, name, desc;
	Elf_Data *d = e ? section_read(e, ".note.gnu.build-id", NOTE_SECTION_MOST) : NULL;
	bool same = false;
	GElf_Nhdr nh;

	while (d && !same && (at = gelf_getnote(d, at, &nh, &name, &desc)) > 0)
		same = nh.n_type == NT_GNU_BUILD_ID && nh.n_namesz == 4 && nh.n_descsz == o->build_id_len &&
		       !memcmp((char *)d->d_buf + name, "GNU", 4) &&
		       !memcmp((char *)d->d_buf + desc, o->build_id, o->build_id_len);
	elf_end(e);
	return same;
}

static bool debugfile_has_checksum(int fd, uint64_t size, uint32_t want)
{
	uint8_t *buf = size <= CHECKSUM_FILE_MOST ? mem_alloc(READ_BYTES) : NULL;
	/* zlib's crc32() by the name that zlib alone has: a libelf.a may have a crc32() too, and a static program
	 * both. */
	uLong sum = crc32_z(0, NULL, 0);
	off_t at = 0;
	ssize_t n;

	if (!buf)
		return false;
	while ((uint64_t)at <= CHECKSUM_FILE_MOST && (n = pread(fd, buf, READ_BYTES, at)) > 0) {
		sum = crc32_z(sum, buf, (size_t)n);
		at += n;
	}
	mem_free(buf);
	return (uint64_t)at == size && sum == want;
}

/* fd, or -1: then it is closed. link NULL: only the build id says that it is the one. */
static int debugfile_checked(int fd, const struct object *o, const struct stat *object, const struct debug_link *link)
{
	struct stat st;
	bool ok;

	if (fd < 0)
		return -1;
	ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && !(st.st_mode & (S_IWGRP | S_IWOTH)) &&
	     (st.st_uid == 0 || st.st_uid == object->st_uid || st.st_uid == geteuid()) &&
	     (st.st_ino != object->st_ino || st.st_dev != object->st_dev);
	if (ok && o->build_id_len)
		ok = debugfile_has_build_id(fd, o);
	else if (ok)
		ok = link && debugfile_has_checksum(fd, (uint64_t)st.st_size, link->checksum);
	if (ok)
		return fd;
	close(fd);
	return -1;
}

/* ---- where it is -------------------------------------------------------------------- */

int debugfile_open(void *elf, const struct object *o, const struct object_bytes *b)
{
	const char *slash = b->path ? strrchr(b->path, '/') : NULL;
	const int dir = slash ? (int)(slash - b->path) : 0;
	char by_id[128], path[4][PATH_MOST] = { 0 };
	struct debug_link link;
	struct stat object;
	int fd = -1;

	if (b->fd < 0 || fstat(b->fd, &object) < 0)
		return -1;
	debug_link_read(elf, &link);
	if (o->build_id_len >= 4) {
		size_t at = (size_t)snprintf(by_id, sizeof(by_id), "%02x/", o->build_id[0]);

		for (uint32_t i = 1; i < o->build_id_len; i++)
			at += (size_t)snprintf(by_id + at, sizeof(by_id) - at, "%02x", o->build_id[i]);
		snprintf(path[0], PATH_MOST, DEBUG_DIR "/.build-id/%s.debug", by_id);
	}
	if (link.name[0] && slash && (size_t)dir < PATH_MOST / 2) {
		snprintf(path[1], PATH_MOST, "%.*s/%s", dir, b->path, link.name);
		snprintf(path[2], PATH_MOST, "%.*s/.debug/%s", dir, b->path, link.name);
		snprintf(path[3], PATH_MOST, DEBUG_DIR "%.*s/%s", dir, b->path, link.name);
	}
	for (size_t i = 0; i < COUNT(path) && fd < 0; i++) {
		if (!path[i][0])
			continue;
		if (b->pid)
			fd = debugfile_checked(k_task_file(b->pid, path[i], 0), o, &object, i ? &link : NULL);
		if (fd < 0)
			fd = debugfile_checked(k_mapped_file(0, path[i]), o, &object, i ? &link : NULL);
	}
	if (fd < 0 && b->ask_servers && o->build_id_len)
		fd = debugfile_checked(debuginfod_fetch(o->build_id, o->build_id_len), o, &object, NULL);
	return fd;
}
