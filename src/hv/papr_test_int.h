/*
 * papr_test_int.h: records made by hand, and a machine that says their values.
 *
 * A golden record is text: hexadecimal bytes in the places that papr_gpci.txt gives them (the requests beyond it:
 * Linux's table), reserved ones zero.  Every byte says where it is, 0x10 more than its offset; only the record's id,
 * marked "@@" in its last byte and in the last byte of one counter, tells records from each other.  The values that the
 * machine says stand below, as numbers in the order of the fields.  Neither is made by what is tested.
 */
#ifndef TALLY_HV_PAPR_TEST_INT_H
#define TALLY_HV_PAPR_TEST_INT_H

#include <stdlib.h>

#include "hv/papr.h"

enum need { NEED_ANYONE, NEED_OWN, NEED_OWN_EXPANDED, NEED_ALL, NEED_EXPANDED, NEED_LAB };
enum by { BY_MANY, BY_ONE, BY_VPS }; /* records with ids; one without; ids of two parts */
struct golden {
	uint32_t number;
	uint8_t since, until; /* firmware levels that answer it */
	uint8_t from, to;     /* the lower of the asker's version and the firmware's, for this layout */
	enum need need;
	enum by by;
	uint32_t size; /* the spec's; of 0xb1 without the elements */
	const char *record, *value;
	uint8_t old; /* up to this level the record looks so: */
	const char *old_record;
};

static const struct golden goldens[] = {
	{ 0x10, 0, 8, 0, 255, NEED_ALL, BY_MANY, 48,
	  "10111213 141516@@ 000000@@ 1c1d1e00 "
	  "20212223 24252627 28292a2b 2c2d2e2f "
	  "30313233 34350000 38393a3b 000000@@ ",
	  "10111213141516@@ 000000@@ 1c1d 1e 20212223 24252627 28292a2b 2c2d2e2f 30313233 3435 38393a3b "
	  "000000@@",
	  0,
	  "10111213 141516@@ 000000@@ 1c1d1e00 "
	  "20212223 24252627 28292a2b 2c2d2e2f "
	  "30313233 34350000 00000000 00000000 " },
	{ 0x20, 0, 8, 0, 255, NEED_OWN, BY_MANY, 48,
	  "00000000 000000@@ 18191a1b 1c1d1e@@ "
	  "20212223 24252627 28292a2b 2c2d2e2f "
	  "30313233 34353637 38393a3b 3c3d3e3f ",
	  "00000000000000@@ 18191a1b1c1d1e@@ 2021222324252627 28292a2b2c2d2e2f 3031323334353637 "
	  "38393a3b3c3d3e3f",
	  0, NULL },
	{ 0x30, 0, 6, 0, 255, NEED_OWN, BY_MANY, 24,
	  "00000000 000000@@ 18191a1b 1c1d1e@@ "
	  "20212223 24252627 ",
	  "00000000000000@@ 18191a1b1c1d1e@@ 2021222324252627", 0, NULL },
	{ 0x40, 0, 8, 0, 255, NEED_ANYONE, BY_ONE, 16, "10110000 00000000 00000000 00000000 ", "10 11", 0,
	  "10000000 00000000 00000000 00000000 " },
	{ 0x50, 0, 6, 0, 2, NEED_ALL, BY_MANY, 64,
	  "000000@@ 00000000 00000000 00000000 "
	  "20212223 242526@@ 28292a2b 2c2d2e2f "
	  "30313233 34353637 38393a3b 3c3d3e3f "
	  "40414243 44454647 48494a4b 4c4d4e4f ",
	  "000000@@ 20212223242526@@ 28292a2b2c2d2e2f 3031323334353637 38393a3b3c3d3e3f 4041424344454647 "
	  "48494a4b4c4d4e4f",
	  0, NULL },
	{ 0x50, 3, 6, 3, 255, NEED_ALL, BY_MANY, 80,
	  "000000@@ 00000000 00000000 00000000 "
	  "20212223 242526@@ 28292a2b 2c2d2e2f "
	  "30313233 34353637 38393a3b 3c3d3e3f "
	  "00000000 00000000 00000000 00000000 "
	  "00000000 00000000 00000000 00000000 ",
	  "000000@@ 20212223242526@@ 28292a2b2c2d2e2f 3031323334353637 38393a3b3c3d3e3f", 0, NULL },
	{ 0x60, 0, 6, 0, 2, NEED_ALL, BY_MANY, 80,
	  "000000@@ 00000000 00000000 00000000 "
	  "20212223 242526@@ 28292a2b 2c2d2e2f "
	  "30313233 34353637 38393a3b 3c3d3e3f "
	  "40414243 44454647 48494a4b 4c4d4e4f "
	  "50515253 54555657 58595a5b 5c5d5e5f ",
	  "000000@@ 20212223242526@@ 28292a2b2c2d2e2f 3031323334353637 38393a3b3c3d3e3f 4041424344454647 "
	  "48494a4b4c4d4e4f 5051525354555657 58595a5b5c5d5e5f",
	  0, NULL },
	{ 0x60, 3, 6, 3, 255, NEED_ALL, BY_MANY, 96,
	  "000000@@ 00000000 00000000 00000000 "
	  "20212223 242526@@ 28292a2b 2c2d2e2f "
	  "30313233 34353637 38393a3b 3c3d3e3f "
	  "40414243 44454647 00000000 00000000 "
	  "00000000 00000000 00000000 00000000 "
	  "00000000 00000000 00000000 00000000 ",
	  "000000@@ 20212223242526@@ 28292a2b2c2d2e2f 3031323334353637 38393a3b3c3d3e3f 4041424344454647", 0, NULL },
	{ 0x70, 3, 6, 0, 255, NEED_EXPANDED, BY_MANY, 176,
	  "000000@@ 00000000 00000000 00000000 "
	  "20212223 242526@@ 28292a2b 2c2d2e2f "
	  "30313233 34353637 38393a3b 3c3d3e3f "
	  "40414243 44454647 48494a4b 4c4d4e4f "
	  "50515253 54555657 58595a5b 5c5d5e5f "
	  "60616263 64656667 68696a6b 6c6d6e6f "
	  "70717273 74757677 78797a7b 7c7d7e7f "
	  "80818283 84858687 88898a8b 8c8d8e8f "
	  "90919293 94959697 98999a9b 9c9d9e9f "
	  "a0a1a2a3 a4a5a6a7 a8a9aaab acadaeaf "
	  "b0b1b2b3 b4b5b6b7 b8b9babb bcbdbebf ",
	  "000000@@ 20212223242526@@ 28292a2b2c2d2e2f 3031323334353637 38393a3b3c3d3e3f 4041424344454647 "
	  "48494a4b4c4d4e4f 5051525354555657 58595a5b5c5d5e5f 6061626364656667 68696a6b6c6d6e6f "
	  "7071727374757677 78797a7b7c7d7e7f 8081828384858687 88898a8b8c8d8e8f 9091929394959697 "
	  "98999a9b9c9d9e9f a0a1a2a3a4a5a6a7 a8a9aaabacadaeaf b0b1b2b3b4b5b6b7 b8b9babbbcbdbebf",
	  0, NULL },
	{ 0x80, 3, 6, 0, 255, NEED_EXPANDED, BY_MANY, 80,
	  "000000@@ 00000000 00000000 00000000 "
	  "20212223 242526@@ 28292a2b 2c2d2e2f "
	  "30313233 34353637 38393a3b 3c3d3e3f "
	  "40414243 44454647 48494a4b 4c4d4e4f "
	  "50515253 54555657 58595a5b 5c5d5e5f ",
	  "000000@@ 20212223242526@@ 28292a2b2c2d2e2f 3031323334353637 38393a3b3c3d3e3f 4041424344454647 "
	  "48494a4b4c4d4e4f 5051525354555657 58595a5b5c5d5e5f",
	  0, NULL },
	{ 0x90, 3, 8, 0, 255, NEED_EXPANDED, BY_MANY, 40,
	  "000000@@ 14151617 18191a1b 1c1d1e1f "
	  "20212223 24252627 28292a2b 2c002e2f "
	  "30313233 00000000 ",
	  "000000@@ 14151617 18191a1b 1c1d1e1f 20212223 24252627 28292a2b 2c 2e2f 30313233", 0, NULL },
	{ 0x91, 3, 8, 0, 255, NEED_EXPANDED, BY_MANY, 32,
	  "000000@@ 14151617 00000000 00000000 "
	  "20212223 24252627 00000000 00000000 ",
	  "000000@@ 14151617 20212223 24252627", 0, NULL },
	{ 0x94, 3, 6, 0, 255, NEED_EXPANDED, BY_MANY, 48,
	  "000000@@ 14151617 18191a1b 1c1d1e@@ "
	  "20212223 24252627 28292a2b 2c2d2e2f "
	  "30313233 34353637 38393a3b 3c3d3e3f ",
	  "000000@@ 14151617 18191a1b1c1d1e@@ 2021222324252627 28292a2b2c2d2e2f 3031323334353637 "
	  "38393a3b3c3d3e3f",
	  0, NULL },
	{ 0x95, 3, 8, 0, 255, NEED_OWN_EXPANDED, BY_MANY, 16, "00@@0000 00000000 18190000 00000000 ", "00@@ 1819", 0,
	  NULL },
	{ 0xa0, 3, 8, 0, 255, NEED_OWN_EXPANDED, BY_VPS, 32,
	  "00@@0007 00000000 00000000 00000000 "
	  "20212223 24250000 00000000 00000000 ",
	  "00@@ 0007 2021 2223 2425", 0, NULL },
	{ 0xb0, 3, 8, 0, 255, NEED_EXPANDED, BY_MANY, 48,
	  "101100@@ 14151617 18191a1b 1c1d1e1f "
	  "20212223 24252627 28292a2b 00000000 "
	  "00000000 00000000 00000000 00000000 ",
	  "1011 00@@ 14151617 18191a1b 1c1d1e1f 20212223 24252627 28292a2b", 0, NULL },
	{ 0xb1, 3, 8, 0, 255, NEED_OWN_EXPANDED, BY_MANY, 16,
	  "00@@0000 00000000 18191a1b 0002001c "
	  "11121314 21222324 31323334 41424344 "
	  "51525354 00000000 00000000 "
	  "61626364 71727374 81828384 91929394 "
	  "a1a2a3a4 00000000 00000000 ",
	  "00@@ 1819 1a 1b 0002 001c", 3,
	  "00@@0000 00000000 18191a00 0002001c "
	  "11121314 21222324 31323334 41424344 "
	  "51525354 00000000 00000000 "
	  "61626364 71727374 81828384 91929394 "
	  "a1a2a3a4 00000000 00000000 " },
	{ 0xc0, 3, 8, 0, 255, NEED_EXPANDED, BY_ONE, 32,
	  "10111213 14151617 00000000 00000000 "
	  "00000000 00000000 00000000 00000000 ",
	  "1011121314151617", 0, NULL },
	{ 0xd0, 3, 8, 0, 255, NEED_EXPANDED, BY_MANY, 32,
	  "000000@@ 14151617 18191a1b 00000000 "
	  "20212223 24250000 28292a2b 00000000 ",
	  "000000@@ 14151617 18191a1b 20212223 24 25 28 29 2a 2b", 0, NULL },
	{ 0xe0, 5, 8, 0, 255, NEED_OWN_EXPANDED, BY_MANY, 80,
	  "00@@0000 00000000 18191a1b 1c1d1e@@ "
	  "20212223 24252627 28292a2b 2c2d2e2f "
	  "30313233 34353637 38393a3b 3c3d3e3f "
	  "40414243 44454647 48494a4b 4c4d4e4f "
	  "50515253 54555657 58595a5b 5c5d5e5f ",
	  "00@@ 18191a1b1c1d1e@@ 2021222324252627 28292a2b2c2d2e2f 3031323334353637 38393a3b3c3d3e3f "
	  "4041424344454647 48494a4b4c4d4e4f 5051525354555657 58595a5b5c5d5e5f",
	  0, NULL },
	{ 0xf0, 5, 8, 0, 255, NEED_EXPANDED, BY_ONE, 32,
	  "10111213 14151617 18191a1b 1c1d1e1f "
	  "20212223 24252627 28292a2b 2c2d2e2f ",
	  "1011121314151617 18191a1b1c1d1e1f 2021222324252627 28292a2b2c2d2e2f", 0, NULL },
	{ 0xf4, 6, 8, 0, 255, NEED_EXPANDED, BY_ONE, 16, "10111213 14151617 18191a1b 1c1d1e1f ",
	  "1011121314151617 18191a1b1c1d1e1f", 0, NULL },
	{ 0x100, 8, 8, 0, 255, NEED_OWN, BY_MANY, 24,
	  "00@@0000 00000000 18191a1b 1c1d1e@@ "
	  "20212223 24252627 ",
	  "00@@ 18191a1b1c1d1e@@ 2021222324252627", 0, NULL },
	{ 0x80002000, 0, 6, 0, 255, NEED_LAB, BY_MANY, 72,
	  "000000@@ 00000000 18191a1b 1c1d1e@@ "
	  "20212223 24252627 28292a2b 2c2d2e2f "
	  "30313233 34353637 38393a3b 3c3d3e3f "
	  "40414243 44454647 48494a4b 4c4d4e4f "
	  "50515253 54555657 ",
	  "000000@@ 18191a1b1c1d1e@@ 2021222324252627 28292a2b2c2d2e2f 3031323334353637 38393a3b3c3d3e3f "
	  "4041424344454647 48494a4b4c4d4e4f 5051525354555657",
	  0, NULL },
};
#define NONE_LEFT UINT64_MAX
#define GOLDEN_VP 7u /* the virtual processor of each record of 0xa0 */

static const struct golden *golden_of(uint32_t number, uint8_t level, uint8_t version)
{
	uint8_t v = version < level ? version : level;

	for (uint32_t i = 0; i < COUNT(goldens); i++) {
		const struct golden *g = &goldens[i];

		if (g->number == number && level >= g->since && level <= g->until && v >= g->from && v <= g->to)
			return g;
	}
	return NULL;
}

static inline int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c - 'a' + 10;
}

/* The golden record of an id, as bytes: how many. */
static inline uint32_t golden_bytes(const struct golden *g, uint8_t level, uint64_t id, uint8_t *to)
{
	const char *s = g->old_record && level <= g->old ? g->old_record : g->record;
	uint32_t n = 0;

	for (; *s; s++)
		if (*s == '@' && s[1] == '@') {
			to[n++] = (uint8_t)id;
			s++;
		} else if (*s != ' ') {
			to[n++] = (uint8_t)(hex_digit(s[0]) << 4 | hex_digit(s[1]));
			s++;
		}
	return n;
}

/* ---- the machine: records 2, 5 and 9, the caller's own is 5; of requests with one record it is 0 ------------- */

struct golden_machine {
	struct papr_rights rights;
	bool broken; /* the collection fails */
	uint32_t begins, ends, asked, sets;
	uint64_t mmcrh;
};

static inline void golden_values(const struct golden *g, uint64_t id, struct gpci_values *v)
{
	const char *s = g->value;

	for (uint32_t i = 0; *s; i++) {
		for (v->v[i] = 0; *s && *s != ' '; s++)
			v->v[i] = *s == '@' ? v->v[i] << 4 | (s[1] == '@' ? id >> 4 : id & 15) :
					      v->v[i] << 4 | (uint64_t)hex_digit(*s);
		s += *s == ' ';
	}
}

static inline int golden_next(void *arg, struct papr_caller who, const struct gpci_request *r, bool self, uint64_t from,
			      uint64_t secondary, struct gpci_values *v)
{
	static const uint64_t ids[] = { 2, 5, 9 };
	struct golden_machine *m = arg;
	const struct golden *g = golden_of(r->number, r->since, r->from);
	uint64_t id = NONE_LEFT;

	m->asked++;
	if (m->broken)
		return -1;
	if (g->by == BY_ONE && (self || from == 0))
		id = 0;
	for (uint32_t i = 0; g->by != BY_ONE && id == NONE_LEFT && i < COUNT(ids); i++)
		if (self ? ids[i] == who.partition :
			   ids[i] > from || (ids[i] == from && (g->by == BY_MANY || secondary <= GOLDEN_VP)))
			id = ids[i];
	if (id == NONE_LEFT)
		return 0;
	golden_values(g, id, v);
	v->id = id;
	v->secondary = g->by == BY_VPS ? GOLDEN_VP : 0;
	v->nelements = 0;
	if (r->number == 0xb1) {
		v->nelements = 2;
		v->element[0] =
			(struct gpci_element){ 0x1112, 0x1314, { 0x21222324, 0x31323334, 0x41424344, 0x51525354 } };
		v->element[1] =
			(struct gpci_element){ 0x6162, 0x6364, { 0x71727374, 0x81828384, 0x91929394, 0xa1a2a3a4 } };
	}
	return 1;
}

static inline void golden_begin(void *arg)
{
	((struct golden_machine *)arg)->begins++;
}

static inline void golden_end(void *arg)
{
	((struct golden_machine *)arg)->ends++;
}

static inline void golden_set(void *arg, uint64_t value)
{
	struct golden_machine *m = arg;

	m->sets++;
	m->mmcrh = value;
}

static inline struct papr_rights golden_rights(void *arg, uint16_t partition)
{
	(void)partition;
	return ((struct golden_machine *)arg)->rights;
}

static const struct papr_machine_ops golden_ops = {
	.next = golden_next,
	.begin = golden_begin,
	.end = golden_end,
	.set_mmcrh = golden_set,
	.rights = golden_rights,
};

/* ---- a guest's memory: GUEST_BYTES from GUEST_BASE on -------------------------------------------------------- */

#define GUEST_BASE UINT64_C(0x10000)
#define GUEST_BYTES 5120u
#define UNTOUCHED 0xa5
struct guest {
	uint8_t p[GUEST_BYTES];
	uint32_t reads, writes;
	bool vanishes;
};

static inline bool guest_is(void *arg, uint64_t ra, uint64_t n)
{
	(void)arg;
	return ra >= GUEST_BASE && ra - GUEST_BASE <= GUEST_BYTES && n <= GUEST_BYTES - (ra - GUEST_BASE);
}

static inline int guest_read(void *arg, uint64_t ra, void *to, size_t n)
{
	struct guest *g = arg;

	g->reads++;
	if (!guest_is(g, ra, n))
		return -1;
	memcpy(to, g->p + (ra - GUEST_BASE), n);
	return 0;
}

static inline int guest_write(void *arg, uint64_t ra, const void *from, size_t n)
{
	struct guest *g = arg;

	g->writes++;
	if (g->vanishes || !guest_is(g, ra, n))
		return -1;
	memcpy(g->p + (ra - GUEST_BASE), from, n);
	return 0;
}

static inline struct hv_mem guest_mem(struct guest *g)
{
	return (struct hv_mem){ .arg = g, .is = guest_is, .read = guest_read, .write = guest_write };
}

#endif
