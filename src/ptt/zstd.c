/*
 * zstd.c: decompression of zstd: whole files, and perf's records within a file.
 *
 * libzstd is loaded when the first such file is met. A frame states how much memory its decoder needs; more than 32
 * MiB (levels above 20, --long) is refused, so that memory stays bounded. Damage ends the content early, with words;
 * all content before it is good.
 */
#include <stdio.h>

#include "ptt/pdata_int.h"

#ifdef TALLY_NO_DLOPEN

int ptt_zstd_open(struct ptt_zstd **ret)
{
	(void)ret;
	return -TALLY_ENOTSUP;
}

void ptt_zstd_close(struct ptt_zstd *z)
{
	(void)z;
}

int64_t ptt_zstd_step(struct ptt_zstd *z, const uint8_t **in, size_t *n, uint8_t *out, size_t room)
{
	(void)z, (void)in, (void)n, (void)out, (void)room;
	return -TALLY_ENOTSUP;
}

static bool ptt_zstd_in_frame(const struct ptt_zstd *z)
{
	(void)z;
	return false;
}

const char *ptt_zstd_why(const struct ptt_zstd *z)
{
	(void)z;
	return LIBRARY_NONE;
}

#else

#include <zstd.h>

#define SONAME "libzstd.so.1"
#define WINDOW_LOG_MOST 25

LIBRARY_NOTE("zstd", "compressed perf.data files", "recommended", SONAME);

/* The library's functions, in the order of their names. */
/* clang-format off */
#define FUNCTIONS(X)              \
	X(ZSTD_createDStream)     \
	X(ZSTD_freeDStream)       \
	X(ZSTD_decompressStream)  \
	X(ZSTD_DCtx_setParameter) \
	X(ZSTD_isError)           \
	X(ZSTD_getErrorName)
/* clang-format on */
static const char *const names[] = {
#define X(f) #f,
	FUNCTIONS(X)
#undef X
};

struct ptt_zstd {
	union {
		struct {
#define X(f) __typeof__(&f) f;
			FUNCTIONS(X)
#undef X
		} call;
		void *fn[COUNT(names)];
	};
	ZSTD_DStream *d;
	bool in_frame;
	const char *why;
};

int ptt_zstd_open(struct ptt_zstd **ret)
{
	struct ptt_zstd *z = mem_alloc(sizeof(*z));

	if (!z)
		return -TALLY_ENOMEM;
	if (!library_load(SONAME, names, z->fn, COUNT(names))) {
		mem_free(z);
		return -TALLY_ENOTSUP;
	}
	z->d = z->call.ZSTD_createDStream();
	if (!z->d || z->call.ZSTD_isError(z->call.ZSTD_DCtx_setParameter(z->d, ZSTD_d_windowLogMax, WINDOW_LOG_MOST))) {
		ptt_zstd_close(z);
		return -TALLY_ENOMEM;
	}
	*ret = z;
	return 0;
}

void ptt_zstd_close(struct ptt_zstd *z)
{
	if (z)
		z->call.ZSTD_freeDStream(z->d);
	mem_free(z);
}

int64_t ptt_zstd_step(struct ptt_zstd *z, const uint8_t **in, size_t *n, uint8_t *out, size_t room)
{
	ZSTD_inBuffer from = { .src = *in, .size = *n };
	ZSTD_outBuffer to = { .dst = out, .size = room };
	size_t rc = z->call.ZSTD_decompressStream(z->d, &to, &from);

	if (z->call.ZSTD_isError(rc)) {
		z->why = z->call.ZSTD_getErrorName(rc);
		return -TALLY_ECORRUPT;
	}
	z->in_frame = rc != 0;
	*in += from.pos;
	*n -= from.pos;
	return (int64_t)to.pos;
}

static bool ptt_zstd_in_frame(const struct ptt_zstd *z)
{
	return z->in_frame;
}

const char *ptt_zstd_why(const struct ptt_zstd *z)
{
	return z->why;
}

#endif

/* ---- a whole file ----------------------------------------------------------------- */

struct ptt_unpack {
	struct bytes_in in, out;
	uint64_t at;
	struct ptt_zstd *z;
	char trouble[128];
};

bool ptt_is_zstd(const uint8_t *p, size_t n)
{
	return n >= 4 && pdata_u32(p) == 0xfd2fb528u;
}

static int64_t PRINTF_LIKE(2, 3) unpack_end(struct ptt_unpack *u, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(u->trouble, sizeof(u->trouble), fmt, ap);
	va_end(ap);
	return 0;
}

static int64_t unpack_read(void *arg, uint8_t *out, size_t room)
{
	struct ptt_unpack *u = arg;
	int64_t done = 0;

	while (done == 0 && !*u->trouble) {
		const uint8_t *p = (const uint8_t *)"";
		int64_t got = u->in.at(u->in.arg, u->at, PTT_WINDOW_MOST / 4, &p);
		size_t left = got > 0 ? (size_t)got : 0;

		if (got < 0)
			return unpack_end(u, "the compressed file ends early: reading failed");
		if (got == 0 && !ptt_zstd_in_frame(u->z))
			return 0;
		done = ptt_zstd_step(u->z, &p, &left, out, room);
		if (done < 0 && u->at && !ptt_zstd_in_frame(u->z))
			return unpack_end(u, "what follows the compressed data is not zstd");
		if (done < 0)
			return unpack_end(u, "the compressed file ends early: %s", ptt_zstd_why(u->z));
		if (done == 0 && got == 0)
			return unpack_end(u, "the compressed file ends early: it is cut");
		u->at += (uint64_t)got - left;
	}
	return done;
}

int ptt_unpack_open(struct ptt_unpack **ret, struct bytes_in *out, const struct bytes_in *in, struct err *e)
{
	struct ptt_unpack *u = mem_alloc(sizeof(*u));
	int rc = u ? ptt_zstd_open(&u->z) : -TALLY_ENOMEM;

	if (rc == 0) {
		u->in = *in;
		rc = stream_in_open(&u->out, unpack_read, u);
	}
	if (rc == 0) {
		*out = u->out;
		*ret = u;
		return 0;
	}
	ptt_unpack_close(u);
	return rc == -TALLY_ENOTSUP ?
		       err_set(e, TALLY_ENOTSUP,
			       "the file is compressed with zstd, and " LIBRARY_WHY(
				       "libzstd is not there (package libzstd1)") "; zstd -d makes it readable") :
		       err_oom(e);
}

void ptt_unpack_close(struct ptt_unpack *u)
{
	if (!u)
		return;
	stream_in_close(&u->out);
	ptt_zstd_close(u->z);
	mem_free(u);
}

const char *ptt_unpack_trouble(const struct ptt_unpack *u)
{
	return *u->trouble ? u->trouble : NULL;
}
