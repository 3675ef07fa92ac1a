/*
 * base: what every room needs from C and no more: memory that can be made to
 * fail on demand, an arena, a growing text buffer, a string map, and one shape
 * of error.  libc only.
 *
 * Errors: a function returns 0 or more when it went well and a negative
 * `enum tally_err` otherwise; the words are stored in a `struct err` that the
 * caller hands down.  Nothing in here prints or exits.
 * Thread rule: no object in here is shared between threads.
 */
#ifndef TALLY_BASE_H
#define TALLY_BASE_H

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <tally/error.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define SECOND_NS UINT64_C(1000000000)
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))

/* ---- memory ------------------------------------------------------------ */
/* All memory of the project comes from these, so that a test can make the
 * n-th allocation fail (R14).  They return NULL when memory is out. */
void *mem_alloc(size_t size);         /* zeroed */
void *mem_grow(void *p, size_t size); /* as realloc; p stays good on failure */
char *mem_strdup(const char *s);
void mem_free(void *p);   /* NULL is fine */
void mem_fail_at(long n); /* tests: the n-th allocation from now fails; 0 = never */
bool mem_failed(void);    /* tests: whether that allocation was reached */
long mem_live(void);      /* tests: allocations not yet freed */
/* Whether n bytes at `at` lie within the `bytes` from `base` on; nothing wraps, whatever they are. */
bool range_holds(uint64_t base, uint64_t bytes, uint64_t at, uint64_t n);

/* ---- arena: freed at once ---------------------------------------------- */
struct arena {
	struct arena_chunk *head;
	size_t left;
	bool failed; /* an allocation returned NULL */
};
void *arena_alloc(struct arena *a, size_t size); /* zeroed, 16-aligned; NULL when out of memory */
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_strdup(struct arena *a, const char *s);
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
char *arena_vprintf(struct arena *a, const char *fmt, va_list ap) PRINTF_LIKE(2, 0);
const char *arena_text(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3); /* the same; "" when out of memory */
void arena_free(struct arena *a);
void arena_reset(struct arena *a); /* as arena_free, but keeps a first chunk for the next use */

/* ---- vectors: VEC_PUSH(v, n, cap, item) over plain struct fields -------- */
/* Grows array `v` (elements `n`, room `cap`) by doubling and yields a pointer
 * to a new zeroed element, or NULL when memory is out. */
#define VEC_NEW(v, n, cap) ((__typeof__(&(v)[0]))vec_new((void **)&(v), &(n), &(cap), sizeof((v)[0])))
void *vec_new(void **v, uint32_t *n, uint32_t *cap, size_t size);
/* Of n elements in the order of a field of 64 bits: how many have one that is at most `most`, or the index of the first
 * above. v may be NULL where n is 0. */
#define SORTED_UPTO(v, n, field, most)                               \
	sorted_upto((v), (n), sizeof((v)[0]),                        \
		    _Generic((v)[0].field, uint64_t                  \
			     : offsetof(__typeof__((v)[0]), field)), \
		    (most))
static inline uint32_t sorted_upto(const void *v, uint32_t n, size_t size, size_t field, uint64_t most)
{
	uint32_t lo = 0, hi = n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		uint64_t is;

		memcpy(&is, (const char *)v + mid * size + field, sizeof(is));
		if (is <= most)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* ---- text buffer -------------------------------------------------------- */
struct buf {
	char *p; /* NUL-terminated once anything was added */
	size_t n, cap;
	bool failed; /* memory ran out: the text is cut short */
};
void buf_putc(struct buf *b, char c);
void buf_put(struct buf *b, const void *s, size_t n);
void buf_puts(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_vprintf(struct buf *b, const char *fmt, va_list ap);
void buf_i64(struct buf *b, int64_t v);                    /* as %lld, at a tenth of its cost */
void buf_json_str(struct buf *b, const char *s, size_t n); /* quoted and escaped; bad UTF-8 becomes U+FFFD */
/* As a terminal may see it: control characters and bad UTF-8 become '?'. Names come from files of others. */
void buf_plain(struct buf *b, const char *s, size_t n);
/* The same, but nothing is lost: each byte of them as \x1b. Newlines and tabs stay. */
void buf_visible(struct buf *b, const char *s, size_t n);
/* Words from column `at` on and a newline, broken at blanks before column `columns`; further lines begin at `indent`,
 * and lines that go on end in `tail` (" \\" of a command, ""). $(...) is one word; one that fits nowhere is not cut. */
void buf_wrap(struct buf *b, const char *s, size_t at, size_t indent, size_t columns, const char *tail);
/* Hands a line to `out`, which is a tally_write_fn; NULL: nobody wants it. A long one is cut when memory is out. */
void note_line(int (*out)(void *arg, const char *text, size_t n), void *arg, const char *fmt, va_list ap);
void buf_clear(struct buf *b); /* keeps the memory */
void buf_free(struct buf *b);

/* ---- map from byte strings to pointers ---------------------------------- */
struct map {
	struct map_slot *slot;
	size_t n, cap;
	struct arena *keys; /* where keys are copied to; NULL: each has memory of its own */
};
void **map_at(struct map *m, const void *key, size_t len);       /* inserts (value NULL); NULL when out of memory */
void *map_get(const struct map *m, const void *key, size_t len); /* NULL if absent */
/* Walk: i = 0; while (map_next(m, &i, &key, &len, &val)) ...  order unspecified */
bool map_next(const struct map *m, size_t *i, const void **key, size_t *len, void **val);
void map_free(struct map *m); /* keys are owned by the map, values are not */

/* ---- errors ------------------------------------------------------------- */
struct err {
	int code;       /* enum tally_err, 0 = none; the first error stays */
	char text[512]; /* the words, no newline, no prefix */
};
/* Stores code and words (unless an error is already there) and returns -code. */
int err_set(struct err *e, enum tally_err code, const char *fmt, ...) PRINTF_LIKE(3, 4);
int err_oom(struct err *e); /* -TALLY_ENOMEM, "out of memory" */
int err_setv(struct err *e, enum tally_err code, const char *fmt, va_list ap) PRINTF_LIKE(3, 0);

/* ---- options structs: size_t size first --------------------------------- */
/* The caller's over a zeroed one of `ours` bytes. False: no size, or bytes that we don't know are set. */
bool opts_take(void *to, size_t ours, const void *from);
/* Results to the caller's, all but the size: as much as it has room for, zero beyond what we have. to NULL: nobody
 * wants them. */
void opts_give(void *to, const void *from, size_t ours);

/* ---- text --------------------------------------------------------------- */
/* n names, `stride` bytes apart, as they stand in an array or in the rows of a table; a NULL is no name. */
struct text_names {
	const char *const *first;
	size_t stride, n;
};
#define TEXT_NAMES(v, n) ((struct text_names){ v, sizeof(*(v)), n })
#define TEXT_NAMES_OF(rows, field) ((struct text_names){ &(rows)[0].field, sizeof((rows)[0]), COUNT(rows) })
/* The name nearest to `word` by edit distance, or NULL if none is near
 * (more than a third of the word's length away). '-' and '_' count as equal-ish (cost 0). A name that the word
 * begins, with three letters at least, is nearer than one with other letters. */
const char *text_nearest(const char *word, struct text_names names);
/* What ends the words of an error about a name that nothing has, as in: "unknown key '%s'%s", key,
 * err_unknown(...).text */
struct err_tail {
	char text[384];
};
/* "; did you mean NAME?", between the quotes, or "" when no name is near. */
struct err_tail err_near(const char *quote, const char *word, struct text_names names);
/* "; did you mean 'NAME'?", or what fmt says when no name is near; fmt NULL: " (expected one of NAME, NAME)". */
struct err_tail err_unknown(const char *word, struct text_names names, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Which of them `word` is: its index. -TALLY_EINVAL: "KEY=WORD: unknown KEY", and the nearest, or all there are. */
int text_pick(const char *key, const char *word, struct text_names names, struct err *e);
/* Whole of s as a number: base 10, or 16 after 0x. False when anything else is in it or it overflows. */
bool text_u64(const char *s, uint64_t *ret);
/* How many ns a unit of D's times has, in any case: "ms", "hour"; 0: what stands before it is a rate ("hz", or none);
 * negative: none. */
int64_t text_time_unit(const char *name);
/* The length of a UTF-8 byte order mark that text begins with: 3, or 0. An editor puts it there; it says nothing. */
size_t text_mark(const char *s, size_t n);
/* Why what lies behind the mark is no text in UTF-8, as far as its first bytes tell, and what mends it; NULL: it may be
 * one. */
const char *text_not_utf8(const char *s, size_t n);
/* How many bytes the character takes that s[0..n), n > 0, begins with; 0: it is none in UTF-8. */
size_t text_utf8_len(const void *s, size_t n);
bool text_glob(const char *pattern, const char *s); /* D's globs: * ? [set] [!set] and \ quoting; "" matches all */
uint64_t text_hash(const void *p, size_t n);
/* Letters, digits and '_' alone, and no digit in front; what else there is becomes '_', many in a row one. */
void buf_identifier(struct buf *to, const char *text, size_t n);
/* What an element of a tuple is called: the last name in it that is no argument, "requester" of args[0]->requester,
 * "ufunc" of ufunc(arg1), "key" of a constant. */
void buf_key_name(struct buf *to, const char *text);

#endif
