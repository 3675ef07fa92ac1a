/*
 * niagara_trace.c: references from text.
 *
 * lackey (valgrind --tool=lackey --trace-mem=yes): "I  04001000,3", " L 1ffe,8", " S 1ffe,8", " M 1ffe,8" (a load
 * and a store); other lines are valgrind's own.  din (Dinero): a label (0 read, 1 write, 2 fetch) and an
 * address in hexadecimal.  One strand, one context, user level: the files say no more.
 *
 * The bytes come in pieces of any size.  A line that is longer than `rest` is none of theirs.
 */
#include "machine/niagara_int.h"
#include "machine/niagara_trace.h"

struct line {
	const char *p, *end;
};

/* More than 15: none. */
static uint32_t hex_digit(char c)
{
	uint32_t d = (uint32_t)c - '0', letter = ((uint32_t)c | 0x20) - 'a';

	return d < 10 ? d : letter < 6 ? letter + 10 : 16;
}

static bool hex(struct line *l, uint64_t *ret)
{
	const char *from = l->p;
	uint64_t v = 0;

	for (uint32_t d; l->p < l->end && (d = hex_digit(*l->p)) < 16; l->p++)
		v = v << 4 | d;
	*ret = v;
	return l->p > from && l->p - from <= 16;
}

static void blanks(struct line *l)
{
	while (l->p < l->end && (*l->p == ' ' || *l->p == '\t' || *l->p == '\r'))
		l->p++;
}

/* A size of at most three digits, and nothing behind it. */
static bool last_number(struct line *l, uint32_t *ret)
{
	const char *from = l->p;
	uint32_t v = 0;

	for (; l->p < l->end && *l->p >= '0' && *l->p <= '9' && l->p - from < 3; l->p++)
		v = v * 10 + (uint32_t)(*l->p - '0');
	*ret = v;
	if (l->p == from)
		return false;
	blanks(l);
	return l->p == l->end;
}

static uint32_t lackey(struct line l, struct niagara_ref r[2])
{
	uint32_t bytes;
	char which;

	blanks(&l);
	which = l.p < l.end ? *l.p++ : 0;
	if ((which != 'I' && which != 'L' && which != 'S' && which != 'M') || l.p == l.end || *l.p != ' ')
		return 0;
	blanks(&l);
	if (!hex(&l, &r->va) || l.p == l.end || *l.p++ != ',' || !last_number(&l, &bytes))
		return 0;
	r->bytes = bytes < 255 ? (uint8_t)bytes : 255;
	r->kind = which == 'I' ? NIAGARA_FETCH : which == 'S' ? NIAGARA_STORE : NIAGARA_LOAD;
	r->instructions = which == 'I';
	if (which != 'M')
		return 1;
	r[1] = r[0];
	r[1].kind = NIAGARA_STORE;
	return 2;
}

/* What follows the address is the writer's own. */
static uint32_t din(struct line l, struct niagara_ref *r)
{
	static const uint8_t kind[] = { NIAGARA_LOAD, NIAGARA_STORE, NIAGARA_FETCH };
	uint32_t label;

	blanks(&l);
	if (l.p == l.end || *l.p < '0' || *l.p > '2')
		return 0;
	label = (uint32_t)(*l.p++ - '0');
	if (l.p == l.end || (*l.p != ' ' && *l.p != '\t'))
		return 0;
	blanks(&l);
	if (!hex(&l, &r->va) || (l.p < l.end && *l.p != ' ' && *l.p != '\t' && *l.p != '\r'))
		return 0;
	r->kind = kind[label];
	r->bytes = 4;
	r->instructions = label == 2;
	return 1;
}

enum { BATCH = 64 };
struct batch {
	struct niagara *n;
	struct niagara_reader *r;
	struct niagara_ref ref[BATCH];
	uint32_t count;
};

static void hand_over(struct batch *b)
{
	niagara_refs(b->n, b->ref, b->count);
	b->count = 0;
}

/* A whole line, without its end. */
static void take(struct batch *b, const char *p, size_t bytes)
{
	struct niagara_ref *ref = &b->ref[b->count];
	const struct line l = { p, p + bytes };
	uint32_t count = 0;

	ref[0] = (struct niagara_ref){ .strand = b->r->strand, .context = 1 };
	if (bytes <= sizeof(b->r->rest))
		count = b->r->format == NIAGARA_LACKEY ? lackey(l, ref) : din(l, ref);
	b->r->lines++;
	b->r->skipped += count == 0;
	b->count += count;
	if (b->count > BATCH - 2)
		hand_over(b);
}

/* The start of a line whose end has not come, behind what there is of it; one that is too long is remembered as
 * that. */
static void keep(struct niagara_reader *r, const char *p, size_t bytes)
{
	if (bytes > sizeof(r->rest) || r->nrest > sizeof(r->rest) - bytes) {
		r->nrest = sizeof(r->rest) + 1;
		return;
	}
	memcpy(r->rest + r->nrest, p, bytes);
	r->nrest += (uint32_t)bytes;
}

static void take_rest(struct batch *b, const char *p, size_t bytes)
{
	keep(b->r, p, bytes);
	take(b, b->r->rest, b->r->nrest);
	b->r->nrest = 0;
}

void niagara_read(struct niagara_reader *r, struct niagara *n, const char *p, size_t bytes)
{
	struct batch b = { .n = n, .r = r };

	for (const char *end = p + bytes, *nl; p < end; p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(end - p));
		if (!nl) {
			keep(r, p, (size_t)(end - p));
			break;
		}
		if (r->nrest)
			take_rest(&b, p, (size_t)(nl - p));
		else
			take(&b, p, (size_t)(nl - p));
	}
	hand_over(&b);
}
