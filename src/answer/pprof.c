/*
 * pprof.c: call trees as a profile of pprof: github.com/google/pprof, proto/profile.proto, in gzip.
 *
 * The message is written by hand: it is output alone, and of protobuf's encoding it needs two kinds of field: a number
 * (wire type 0) and bytes (2), both behind a varint of field number and kind. Numbers of 0 are left out, as that
 * encoding has it. A value may be negative, as in the difference of two profiles.
 *
 * Each aggregation is a type of sample, so a sample has a number for each of them, all but its own 0. A location is a
 * name of the trees, without an address: addresses of a function are one box. Keys are frames at the root, as in the
 * other forms, so that all agree in every sum; frames have the file of their module as mapping, or, where it is not
 * known, the module's name.
 */
#include <string.h>
#include <zlib.h>

#include "answer/answer_int.h"
#include "answer/pprof.h"

/* Fields of the messages. */
enum { PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION, PROFILE_FUNCTION, PROFILE_STRING };
enum { PROFILE_TIME = 9, PROFILE_DURATION, PROFILE_PERIOD_TYPE, PROFILE_PERIOD, PROFILE_COMMENT, PROFILE_DEFAULT };
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_HAS_FUNCTIONS = 7 };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1 };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME };

struct pprof {
	struct buf to;     /* the message */
	struct buf part;   /* one inside it */
	struct buf packed; /* and a list of numbers inside that */
	struct map index;  /* text -> its number + 1 */
	uint32_t nstrings;
	struct map mapping; /* file -> its id */
	uint32_t nmappings;
	bool failed;
};

/* ---- the encoding ------------------------------------------------------------------------ */

static void pprof_put_varint(struct buf *to, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		buf_putc(to, (char)(v | 0x80));
	buf_putc(to, (char)v);
}

static void pprof_put_number(struct buf *to, uint32_t field, uint64_t v)
{
	if (!v)
		return;
	pprof_put_varint(to, field << 3);
	pprof_put_varint(to, v);
}

static void pprof_put_bytes(struct buf *to, uint32_t field, const void *p, size_t n)
{
	pprof_put_varint(to, field << 3 | 2);
	pprof_put_varint(to, n);
	buf_put(to, p ? p : "", n);
}

/* What gathered in `from` becomes a field of `to`. */
static void pprof_put_part(struct buf *to, uint32_t field, struct buf *from)
{
	to->failed |= from->failed;
	pprof_put_bytes(to, field, from->p, from->n);
	buf_clear(from);
}

/* The number of a text, which is written when it is met first; bytes that are no UTF-8 are '?', for a string is UTF-8
 * there. */
static uint64_t pprof_string(struct pprof *w, const char *s)
{
	void **slot = map_at(&w->index, s, strlen(s));
	struct buf text = { 0 };

	if (!slot) {
		w->failed = true;
		return 0;
	}
	if (!*slot) {
		buf_plain(&text, s, strlen(s));
		*slot = (void *)(uintptr_t)++w->nstrings;
		pprof_put_part(&w->to, PROFILE_STRING, &text);
		buf_free(&text);
	}
	return (uintptr_t)*slot - 1;
}

/* ---- types of samples ----------------------------------------------------------------------- */

static void pprof_put_type(struct pprof *w, uint32_t field, const char *type, const char *unit)
{
	const uint64_t name = pprof_string(w, type), of = pprof_string(w, unit);

	pprof_put_number(&w->part, TYPE_TYPE, name);
	pprof_put_number(&w->part, TYPE_UNIT, of);
	pprof_put_part(&w->to, field, &w->part);
}

/* "@wait_ns" is wait_ns in nanoseconds; what count() without a name counted are samples. The first one is what is shown
 * first. */
static void pprof_put_tree_type(struct pprof *w, const struct an_flame_tree *t, bool first)
{
	static const struct {
		const char *ours, *theirs;
	} units[] = {
		{ "ns", "nanoseconds" }, { "us", "microseconds" }, { "ms", "milliseconds" }, { "bytes", "bytes" }
	};
	const char *unit = "count", *type = t->label + 1;

	if (*t->label != '@')
		type = strcmp(t->function, "count") ? t->function : "samples";
	for (size_t i = 0; i < COUNT(units); i++)
		if (!strcmp(units[i].ours, an_flame_unit(t)))
			unit = units[i].theirs;
	pprof_put_type(w, PROFILE_SAMPLE_TYPE, type, unit);
	if (first)
		pprof_put_number(&w->to, PROFILE_DEFAULT, pprof_string(w, type));
}

/* ---- names ------------------------------------------------------------------------------------ */

/* The id of the mapping of a frame's module; 0: it has none. */
static uint64_t pprof_mapping(struct pprof *w, const struct an_flame_name *name)
{
	const char *mark = strchr(name->text, '`');
	char module[256];
	const char *file = name->file;
	uint64_t string;
	void **slot;

	if (name->frame == AN_FRAME_KEY || (!file && (!mark || (size_t)(mark - name->text) >= sizeof(module))))
		return 0;
	if (!file) {
		memcpy(module, name->text, (size_t)(mark - name->text));
		module[mark - name->text] = '\0';
		file = module;
	}
	slot = map_at(&w->mapping, file, strlen(file));
	w->failed |= !slot;
	if (slot && !*slot) {
		*slot = (void *)(uintptr_t)++w->nmappings;
		string = pprof_string(w, file);
		pprof_put_number(&w->part, MAPPING_ID, w->nmappings);
		pprof_put_number(&w->part, MAPPING_FILE, string);
		pprof_put_number(&w->part, MAPPING_HAS_FUNCTIONS, 1);
		pprof_put_part(&w->to, PROFILE_MAPPING, &w->part);
	}
	return slot ? (uintptr_t)*slot : 0;
}

/* Function and location of a name have its number + 1 as id. */
static void pprof_put_name(struct pprof *w, const struct an_flame_name *name, uint64_t id)
{
	const uint64_t string = pprof_string(w, name->text), mapping = pprof_mapping(w, name);

	pprof_put_number(&w->part, FUNCTION_ID, id);
	pprof_put_number(&w->part, FUNCTION_NAME, string);
	pprof_put_number(&w->part, FUNCTION_SYSTEM_NAME, string);
	pprof_put_part(&w->to, PROFILE_FUNCTION, &w->part);
	pprof_put_number(&w->packed, LINE_FUNCTION, id);
	pprof_put_number(&w->part, LOCATION_ID, id);
	pprof_put_number(&w->part, LOCATION_MAPPING, mapping);
	pprof_put_part(&w->part, LOCATION_LINE, &w->packed);
	pprof_put_part(&w->to, PROFILE_LOCATION, &w->part);
}

/* ---- samples ------------------------------------------------------------------------------------- */

/* The path up from a node, the innermost first. A root is the aggregation, which is the type of the sample. */
static void pprof_put_sample(struct pprof *w, const struct an_flame *f, uint32_t tree, uint32_t node)
{
	for (uint32_t at = node; at != f->tree[tree].root; at = f->node[at].parent)
		pprof_put_varint(&w->packed, f->node[at].name + 1u);
	if (node == f->tree[tree].root)
		pprof_put_varint(&w->packed, f->node[node].name + 1u); /* nothing else is there to call it by */
	pprof_put_part(&w->part, SAMPLE_LOCATION, &w->packed);
	for (uint32_t i = 0; i < f->ntrees; i++)
		pprof_put_varint(&w->packed, i == tree ? (uint64_t)f->node[node].self : 0);
	pprof_put_part(&w->part, SAMPLE_VALUE, &w->packed);
	pprof_put_part(&w->to, PROFILE_SAMPLE, &w->part);
}

static void pprof_put_tree(struct pprof *w, const struct an_flame *f, uint32_t tree)
{
	uint32_t depth;

	for (uint32_t at = an_flame_next(f, &f->tree[tree], 0, &depth); at;
	     at = an_flame_next(f, &f->tree[tree], at, &depth))
		if (f->node[at].self)
			pprof_put_sample(w, f, tree, at);
}

/* ---- gzip ------------------------------------------------------------------------------------------ */

static void *pprof_zlib_alloc(void *arg, unsigned n, unsigned size)
{
	(void)arg;
	return mem_alloc((size_t)n * size);
}

static void pprof_zlib_free(void *arg, void *p)
{
	(void)arg;
	mem_free(p);
}

static void pprof_put_gzip(struct buf *to, const struct buf *from)
{
	z_stream z = { .zalloc = pprof_zlib_alloc, .zfree = pprof_zlib_free };
	unsigned char room[16384];
	size_t at = 0;
	int rc;

	if (from->failed ||
	    deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		to->failed = true;
		return;
	}
	do {
		const size_t left = from->n - at, n = left < UINT32_MAX / 2 ? left : UINT32_MAX / 2;

		if (!z.avail_in) {
			z.next_in = (unsigned char *)from->p + at;
			z.avail_in = (unsigned)n;
			at += n;
		}
		z.next_out = room;
		z.avail_out = sizeof(room);
		rc = deflate(&z, at == from->n ? Z_FINISH : Z_NO_FLUSH);
		buf_put(to, room, sizeof(room) - z.avail_out);
	} while (rc == Z_OK);
	to->failed |= rc != Z_STREAM_END;
	(void)deflateEnd(&z);
}

/* ---- the profile -------------------------------------------------------------------------------------- */

void an_pprof_put(struct buf *to, const struct an_flame *f, const struct an_pprof *about)
{
	struct pprof w = { 0 };

	(void)pprof_string(&w, ""); /* the first one is empty */
	for (uint32_t i = 0; i < f->ntrees; i++)
		pprof_put_tree_type(&w, &f->tree[i], !i);
	if (!f->ntrees)
		pprof_put_type(&w, PROFILE_SAMPLE_TYPE, "samples", "count"); /* a profile without a type is refused */
	for (uint32_t i = 0; i < f->nnames; i++)
		pprof_put_name(&w, &f->name[i], i + 1u);
	for (uint32_t i = 0; i < f->ntrees; i++)
		pprof_put_tree(&w, f, i);
	pprof_put_number(&w.to, PROFILE_TIME, about->began_ns);
	pprof_put_number(&w.to, PROFILE_DURATION, about->lasted_ns);
	if (about->period) {
		pprof_put_type(&w, PROFILE_PERIOD_TYPE, about->period_type, about->period_unit);
		pprof_put_number(&w.to, PROFILE_PERIOD, about->period);
	}
	for (uint32_t i = 0; i < about->ncomments; i++)
		pprof_put_number(&w.to, PROFILE_COMMENT, pprof_string(&w, about->comment[i]));
	w.to.failed |= w.failed | f->failed;
	pprof_put_gzip(to, &w.to);
	buf_free(&w.to);
	buf_free(&w.part);
	buf_free(&w.packed);
	map_free(&w.index);
	map_free(&w.mapping);
}
