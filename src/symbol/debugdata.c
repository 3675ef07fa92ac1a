/*
 * debugdata.c: .gnu_debugdata, the "mini debug info" of stripped files.
 *
 * The section is an xz stream of an ELF file that has .symtab and nothing
 * else.  liblzma is opened when the first such file is met and let go at once:
 * that costs a fraction of a millisecond per file, and a run that meets none
 * pays nothing.  How large the content is stands nowhere that can be trusted,
 * so the room is doubled until it fits, up to UNPACKED_MOST.
 */
#include "base/file.h"
#include "symbol/symbol_int.h"

#ifdef TALLY_NO_DLOPEN

void *debugdata_unpack(const void *p, size_t n, size_t *size)
{
	(void)p, (void)n, (void)size;
	return NULL;
}

#else

#include <dlfcn.h>
#include <lzma.h>

#define SONAME "liblzma.so.5"
#define UNPACKED_MOST (256u << 20)
#define DECODER_MOST (128u << 20)

LIBRARY_NOTE("lzma", "function names of stripped programs", "recommended", SONAME);

typedef __typeof__(&lzma_stream_buffer_decode) decode_fn;

static void *debugdata_unpack_bytes(decode_fn decode, const void *p, size_t n, size_t *size)
{
	for (size_t room = n * 8 + 65536; n < UNPACKED_MOST && room <= UNPACKED_MOST; room *= 2) {
		uint64_t memlimit = DECODER_MOST;
		size_t in = 0, out = 0;
		uint8_t *to = mem_alloc(room);
		lzma_ret rc = LZMA_MEM_ERROR;

		if (to)
			rc = decode(&memlimit, 0, NULL, p, &in, n, to, &out, room);
		*size = out;
		if (rc == LZMA_OK)
			return to;
		mem_free(to);
		if (rc != LZMA_BUF_ERROR)
			break;
	}
	return NULL;
}

void *debugdata_unpack(const void *p, size_t n, size_t *size)
{
	void *lib = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL), *ret = NULL;
	decode_fn decode = lib ? (decode_fn)dlsym(lib, "lzma_stream_buffer_decode") : NULL;

	if (decode)
		ret = debugdata_unpack_bytes(decode, p, n, size);
	if (lib)
		dlclose(lib);
	return ret;
}

#endif
