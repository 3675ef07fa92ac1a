/*
 * vfio_dma.c: the client's memory, as far as the device may write to it.
 *
 * A client names ranges of bus addresses and sends along the file that the memory
 * is: a memfd, or a file on tmpfs.  The device only ever writes, and it writes
 * with pwrite(): a mapping of a file that its owner truncates would end this
 * process with SIGBUS, a file descriptor answers with an error.  For the same
 * reason other kinds of file are refused: a pipe, a device or a file of a remote
 * system can make a write wait for as long as its owner likes, and writing never
 * makes a file longer than it is.
 *
 * A range that comes without a file, or that may not be written, is known (it
 * can't be mapped again and must be unmapped), but DMA to it is refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "attach/vfio_int.h"

static bool dma_maps_overlap(const struct vfio_maps *s, uint64_t first, uint64_t last)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (first <= s->at[i].address + (s->at[i].size - 1) && last >= s->at[i].address)
			return true;
	return false;
}

static bool range_good(uint64_t address, uint64_t size)
{
	return size && !((address | size) % VFIO_PAGE) && address + (size - 1) >= address;
}

/* Whether all of the range is in a file to which a write is a copy to memory. */
static bool file_good(int fd, const struct vu_map *m)
{
	struct stat st;
	struct statfs fs;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || (flags & O_ACCMODE) != O_RDWR || flags & O_APPEND)
		return false;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || fstatfs(fd, &fs) < 0 || fs.f_type != TMPFS_MAGIC)
		return false;
	return m->size <= (uint64_t)st.st_size && m->offset <= (uint64_t)st.st_size - m->size;
}

int vfio_map(struct vfio_maps *s, const struct vu_map *m, int *fd)
{
	bool keep = *fd >= 0 && m->flags & VU_MAP_WRITE;

	if (m->flags & ~(VU_MAP_READ | VU_MAP_WRITE) || !range_good(m->address, m->size) || m->offset % VFIO_PAGE)
		return EINVAL;
	if (keep && !file_good(*fd, m))
		return EINVAL;
	if (dma_maps_overlap(s, m->address, m->address + (m->size - 1)))
		return EEXIST;
	if (s->n == VFIO_MAPS_MOST)
		return ENOSPC;
	s->at[s->n++] = (struct vfio_map){ m->address, m->size, m->offset, keep ? *fd : -1 };
	if (keep)
		*fd = -1;
	return 0;
}

static void dma_map_drop(struct vfio_map *m)
{
	if (m->fd >= 0)
		close(m->fd);
}

int vfio_unmap(struct vfio_maps *s, const struct vu_unmap *m)
{
	if (m->flags & ~VU_UNMAP_ALL)
		return EINVAL;
	if (m->flags & VU_UNMAP_ALL) {
		if (m->address || m->size)
			return EINVAL;
		vfio_unmap_all(s);
		return 0;
	}
	for (uint32_t i = 0; i < s->n; i++)
		if (s->at[i].address == m->address && s->at[i].size == m->size) {
			dma_map_drop(&s->at[i]);
			s->at[i] = s->at[--s->n];
			return 0;
		}
	return ENOENT;
}

void vfio_unmap_all(struct vfio_maps *s)
{
	while (s->n)
		dma_map_drop(&s->at[--s->n]);
}

static const struct vfio_map *map_of(const struct vfio_maps *s, uint64_t address)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (address - s->at[i].address < s->at[i].size)
			return &s->at[i];
	return NULL;
}

/* The file may have become shorter since it was mapped: then there is no memory here any more. */
static int dma_file_put(int fd, uint64_t off, const uint8_t *p, size_t n)
{
	struct stat st;
	ssize_t done;

	if (fstat(fd, &st) < 0 || off + n > (uint64_t)st.st_size)
		return -TALLY_EIO;
	while (n) {
		done = pwrite(fd, p, n, (off_t)off);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -TALLY_EIO;
		p += done;
		off += (uint64_t)done;
		n -= (size_t)done;
	}
	return 0;
}

int vfio_dma_write(const struct vfio_maps *s, uint64_t to, const void *p, size_t n)
{
	const uint8_t *from = p;
	int rc = 0;

	if (n && to + (n - 1) < to)
		return -TALLY_EINVAL;
	while (n && rc == 0) {
		const struct vfio_map *m = map_of(s, to);
		uint64_t into = m ? to - m->address : 0;
		size_t part;

		if (!m || m->fd < 0)
			return -TALLY_EINVAL;
		part = n < m->size - into ? n : (size_t)(m->size - into);
		rc = dma_file_put(m->fd, m->offset + into, from, part);
		from += part;
		to += part;
		n -= part;
	}
	return rc;
}
