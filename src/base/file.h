/*
 * file.h: bytes from outside and bytes to outside, for rooms that see no file.
 *
 * A room that parses asks a `struct bytes_in` for a few bytes at an offset and
 * never learns where they come from: here they come from a regular file,
 * from a pipe, or from any function that reads on.
 * What is resident stays bounded, whatever the size of the input.
 */
#ifndef TALLY_BASE_FILE_H
#define TALLY_BASE_FILE_H

#include "base/base.h"

/* ---- bytes to read ---------------------------------------------------------------- */
struct bytes_in {
	void *arg;
	/* n bytes at off: sets *p, valid until the next call, and returns how many there are (less than n
	 * only at the end, 0 beyond it). Where `size` is not known, offsets may go back by BYTES_KEEP at
	 * most. Negative: -TALLY_EIO. */
	int64_t (*at)(void *arg, uint64_t off, size_t n, const uint8_t **p);
	uint64_t size; /* of the whole, UINT64_MAX when not known (a pipe) */
};
#define BYTES_WINDOW (1u << 20) /* most bytes that may be asked for at once */
#define BYTES_KEEP (1u << 20)   /* what a stream still has, behind the farthest byte asked for */

/* Opens a file, or standard input for "-". A regular file is read at the offsets asked for, anything else
 * is read on. -TALLY_EIO with words, -TALLY_ENOMEM. A file that shrinks while it is read ends where it then
 * ends. */
int file_in_open(struct bytes_in *ret, const char *path, struct err *e);
void file_in_close(struct bytes_in *in);
/* The whole of a file, mem_free()d by the caller. -TALLY_EIO; -TALLY_EINVAL: more than `most`; -TALLY_ENOMEM. */
int file_read_all(const char *path, size_t most, uint8_t **ret, size_t *n, struct err *e);

/* The same of a regular file that only root and this process's user may write: it is a program that runs with our
 * rights. -TALLY_EPERM: others may, or it is theirs. */
int file_read_owned(const char *path, size_t most, uint8_t **ret, size_t *n, struct err *e);
/* Whether others than its owner and its group may read it; false: also if it is not there. */
bool file_others_may_read(const char *path);
/* Whether a directory is such: nobody else may put one of these files away, or another in its place. */
int dir_check_owned(const char *path, struct err *e);

/* Bytes of a function that reads on: read() fills up to n bytes and returns how many, 0 at the end,
 * negative an error. -TALLY_ENOMEM. */
int stream_in_open(struct bytes_in *ret, int64_t (*read)(void *arg, uint8_t *p, size_t n), void *arg);
void stream_in_close(struct bytes_in *in); /* frees nothing of `arg` */

/* ---- bytes to write --------------------------------------------------------------- */
struct bytes_out {
	void *arg;
	int (*put)(void *arg, const void *p, size_t n);
	/* Writes over what was put before. NULL: what is put is gone (a pipe). */
	int (*patch)(void *arg, uint64_t off, const void *p, size_t n);
};
/* The descriptor of this process through which the regular file `path` is open for writing already, or -1. Whoever
 * started the program opened it: its bytes stay, it is written through that descriptor, and where that one stands. */
int file_inherited(const char *path);
enum file_origin { FILE_FOUND, FILE_MADE, FILE_INHERITED };
/* Opens `path` to be written, without emptying it; of an inherited file the descriptor is a duplicate. -1 with
 * errno. */
int file_write_open(const char *path, enum file_origin *origin);

/* Creates a file (or empties it, unless it is inherited), or writes to standard output for "-". `patch` is there for a
 * regular file that was named and is not inherited. */
int file_out_open(struct bytes_out *ret, const char *path, struct err *e);
int file_out_empty(struct bytes_out *out); /* what was put is gone; -TALLY_EIO: this is no such file */
int file_out_close(struct bytes_out *out); /* -TALLY_EIO: the last bytes did not arrive */

/* ---- what several processes share --------------------------------------------------- */
/* Opens the file, which only its owner may, or makes it, and locks it: until the descriptor that is returned is closed,
 * or the process is gone. Who holds it may remove the file. -1 with errno; EAGAIN: another holds it, or has just
 * removed it. */
int file_lock(const char *path);
/* Makes the directories that `path` names in front of its last slash, as far as they are not there. -TALLY_EIO. */
int file_make_parents(const char *path, struct err *e);
/* What is complete under a temporary name gets its own, once it is on the disk; one of that name is replaced.
 * -TALLY_EIO. */
int file_promote(const char *temporary, const char *path, struct err *e);
/* Calls each() with the names in a directory, in no order, until it returns negative: 0, what each() returned, or
 * -TALLY_EIO with errno. */
int dir_each(const char *path, int (*each)(void *arg, const char *name), void *arg);

/* ---- libraries that are loaded when they are first needed ------------------------- */
/* Fills fn[0..n) with the named functions of a shared library, which then stays loaded. False: it is not
 * installed, lacks one of them, or this build loads nothing (TALLY_NO_DLOPEN: a static program). */
bool library_load(const char *soname, const char *const *name, void **fn, size_t n);
#define LIBRARY_NONE "this tally is a static program and loads no libraries; one that is linked dynamically does"

/* LIBRARY_WHY(words): why library_load() refused: `words` of this library, or that this build loads none. What a file
 * loads is told to packagers by a note in the ELF file: section .note.dlopen, owner "FDO", the text a JSON array
 * (systemd's ELF_DLOPEN_METADATA). priority: "recommended" or "suggested". */
#ifdef TALLY_NO_DLOPEN
#define LIBRARIES_LOAD false
#define LIBRARY_WHY(words) LIBRARY_NONE
#define LIBRARY_NOTE(feature, description, priority, soname) static_assert(sizeof(soname) > 1, "a library")
#else
#define LIBRARIES_LOAD true
#define LIBRARY_WHY(words) words
#define LIBRARY_NOTE_TYPE 0x407c0c0au
#define LIBRARY_NOTE(feature, description, priority, soname)                                                           \
	LIBRARY_NOTE_TEXT("[{\"feature\":\"" feature "\",\"description\":\"" description "\",\"priority\":\"" priority \
			  "\",\"soname\":[\"" soname "\"]}]")
#define LIBRARY_NOTE_TEXT(json)                                                          \
	__attribute__((used, section(".note.dlopen"))) _Alignas(4) static const struct { \
		uint32_t owner_bytes, text_bytes, type;                                  \
		char owner[4];                                                           \
		_Alignas(4) char text[sizeof(json)];                                     \
	} library_note = { sizeof("FDO"), sizeof(json), LIBRARY_NOTE_TYPE, "FDO", json }
#endif

#endif
