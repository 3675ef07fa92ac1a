/*
 * pprof_test.c: profiles of pprof, read back by the rules of its .proto.
 *
 * The message is that of github.com/google/pprof, proto/profile.proto.
 */
#include "answer/test_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "answer/pprof.h"

/* ---- a reader of that message --------------------------------------------------------------------- */

struct wire {
	const uint8_t *p, *end;
};
struct field {
	uint32_t number;
	uint64_t value;   /* of a number */
	struct wire part; /* of bytes */
};

static uint64_t wire_varint(struct wire *w)
{
	uint64_t v = 0;

	for (uint32_t shift = 0;; shift += 7) {
		assert_true(w->p < w->end && shift < 64);
		v |= (uint64_t)(*w->p & 0x7f) << shift;
		if (!(*w->p++ & 0x80))
			return v;
	}
}

/* False: the message ends. */
static bool wire_field(struct wire *w, struct field *ret)
{
	uint64_t tag;

	if (w->p == w->end)
		return false;
	tag = wire_varint(w);
	*ret = (struct field){ .number = (uint32_t)(tag >> 3) };
	assert_true((tag & 7) == 0 || (tag & 7) == 2);
	ret->value = wire_varint(w);
	if ((tag & 7) == 2) {
		assert_true(ret->value <= (uint64_t)(w->end - w->p));
		ret->part = (struct wire){ w->p, w->p + ret->value };
		w->p += ret->value;
	} else {
		assert_true(ret->value != 0); /* which is what a missing one means */
	}
	return true;
}

struct profile {
	struct buf bytes, shown;
	char string[64][320];
	uint32_t nstrings;
};

static const char *string_at(const struct profile *p, uint64_t n)
{
	assert_true(n < p->nstrings);
	return p->string[n];
}

static void put_numbers(struct buf *to, const char *before, struct wire packed)
{
	buf_puts(to, before);
	while (packed.p < packed.end)
		buf_printf(to, " %lld", (long long)wire_varint(&packed));
}

static void put_type(struct profile *p, const char *what, struct wire type)
{
	uint64_t v[3] = { 0 };

	for (struct field f; wire_field(&type, &f); v[f.number] = f.value)
		assert_true(f.number == 1 || f.number == 2);
	buf_printf(&p->shown, "%s %s in %s\n", what, string_at(p, v[1]), string_at(p, v[2]));
}

static void put_sample(struct profile *p, struct wire sample)
{
	for (struct field f; wire_field(&sample, &f);) {
		assert_true(f.number == 1 || f.number == 2);
		put_numbers(&p->shown, f.number == 1 ? "sample at" : ":", f.part);
	}
	buf_putc(&p->shown, '\n');
}

static void put_mapping(struct profile *p, struct wire mapping)
{
	uint64_t v[8] = { 0 };

	for (struct field f; wire_field(&mapping, &f); v[f.number] = f.value)
		assert_true(f.number == 1 || f.number == 5 || f.number == 7);
	buf_printf(&p->shown, "mapping %d of %s%s\n", (int)v[1], string_at(p, v[5]), v[7] == 1 ? ", functions" : "");
}

static void put_location(struct profile *p, struct wire location)
{
	uint64_t v[5] = { 0 }, function = 0;

	for (struct field f; wire_field(&location, &f); v[f.number] = f.value) {
		struct field line;

		assert_true(f.number == 1 || f.number == 2 || f.number == 4);
		if (f.number != 4)
			continue;
		assert_true(wire_field(&f.part, &line) && line.number == 1);
		assert_false(wire_field(&f.part, &(struct field){ 0 }));
		function = line.value;
	}
	buf_printf(&p->shown, "location %d in mapping %d: function %d\n", (int)v[1], (int)v[2], (int)function);
}

static void put_function(struct profile *p, struct wire function)
{
	uint64_t v[4] = { 0 };

	for (struct field f; wire_field(&function, &f); v[f.number] = f.value)
		assert_true(f.number >= 1 && f.number <= 3);
	buf_printf(&p->shown, "function %d: %s, %s\n", (int)v[1], string_at(p, v[2]), string_at(p, v[3]));
}

static void put_field(struct profile *p, const struct field *f)
{
	switch (f->number) {
	case 1:
		put_type(p, "type", f->part);
		break;
	case 2:
		put_sample(p, f->part);
		break;
	case 3:
		put_mapping(p, f->part);
		break;
	case 4:
		put_location(p, f->part);
		break;
	case 5:
		put_function(p, f->part);
		break;
	case 6: /* a string, taken already */
		break;
	case 9:
		buf_printf(&p->shown, "began %llu\n", (unsigned long long)f->value);
		break;
	case 10:
		buf_printf(&p->shown, "lasted %llu\n", (unsigned long long)f->value);
		break;
	case 11:
		put_type(p, "period of", f->part);
		break;
	case 12:
		buf_printf(&p->shown, "period %llu\n", (unsigned long long)f->value);
		break;
	case 13:
		buf_printf(&p->shown, "comment %s\n", string_at(p, f->value));
		break;
	case 14:
		buf_printf(&p->shown, "default %s\n", string_at(p, f->value));
		break;
	default:
		fail_msg("field %u", f->number);
	}
}

static void take_strings(struct profile *p, struct wire all)
{
	for (struct field f; wire_field(&all, &f);)
		if (f.number == 6) {
			assert_true(p->nstrings < COUNT(p->string));
			snprintf(p->string[p->nstrings++], sizeof(p->string[0]), "%.*s", (int)(f.part.end - f.part.p),
				 (const char *)f.part.p);
		}
	assert_string_equal(string_at(p, 0), "");
	for (uint32_t i = 0; i < p->nstrings; i++)
		for (uint32_t k = 0; k < i; k++)
			assert_string_not_equal(p->string[i], p->string[k]);
}

static void buf_gunzip(struct buf *to, const struct buf *from)
{
	z_stream z = { .next_in = (unsigned char *)from->p, .avail_in = (unsigned)from->n };
	unsigned char room[4096];
	int rc;

	assert_int_equal(inflateInit2(&z, MAX_WBITS + 16), Z_OK); /* gzip alone */
	do {
		z.next_out = room;
		z.avail_out = sizeof(room);
		rc = inflate(&z, Z_NO_FLUSH);
		buf_put(to, room, sizeof(room) - z.avail_out);
	} while (rc == Z_OK);
	assert_int_equal(rc, Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	inflateEnd(&z);
}

/* ---- profiles ------------------------------------------------------------------------------------------ */

#define KEYS(...) \
	.key = (const struct an_value[]){ __VA_ARGS__ }, .nkeys = COUNT(((const struct an_value[]){ __VA_ARGS__ }))

static void profile_of(struct profile *p, const struct an_agg *agg, uint32_t n, const struct an_pprof *about)
{
	struct an_flame f = { 0 };
	struct buf zipped = { 0 };
	struct wire all;

	for (uint32_t i = 0; i < n; i++)
		an_flame_add(&f, &agg[i]);
	an_flame_sort(&f);
	an_pprof_put(&zipped, &f, about);
	an_flame_free(&f);
	assert_false(zipped.failed);
	*p = (struct profile){ .nstrings = 0 };
	buf_gunzip(&p->bytes, &zipped);
	buf_free(&zipped);
	all = (struct wire){ (const uint8_t *)p->bytes.p, (const uint8_t *)p->bytes.p + p->bytes.n };
	take_strings(p, all);
	for (struct field field; wire_field(&all, &field);)
		put_field(p, &field);
}

/* Compares all of it, and frees. */
static void assert_profile(const struct an_agg *agg, uint32_t n, const struct an_pprof *about, const char *wanted)
{
	struct profile *p = test_malloc(sizeof(*p));

	profile_of(p, agg, n, about);
	assert_text(&p->shown, wanted);
	buf_free(&p->bytes);
	test_free(p);
}

static void a_sample_has_its_frames_the_innermost_first_and_a_value_of_its_own_aggregation(void **state)
{
	static const char *const frame[] = { "libc`read+0x12", "app`main+0x4" },
				 *const func[] = { "libc`read", "app`main" },
				 *const file[] = { "/lib/libc.so.6", NULL };
	static const char *const kernel[] = { "vmlinux`vfs_read+0x1" }, *const kernel_func[] = { "vmlinux`vfs_read" };
	const struct an_value user = {
		.kind = SLOT_USTACK, .frame = frame, .nframes = COUNT(frame), .func = func, .file = file
	};
	struct an_row reads[] = { { KEYS(STR("app"), user, STACK(SLOT_KSTACK, kernel, kernel_func)), .sum = 3 },
				  { KEYS(STR("app"), user), .sum = 200 } },
		      times[] = { { KEYS(STR("app")), .sum = 1500 } };
	const struct an_agg agg[] = { { .name = "", .fn = AGG_COUNT, .row = reads, .nrows = COUNT(reads) },
				      { .name = "wait_ns", .fn = AGG_SUM, .row = times, .nrows = COUNT(times) } };
	static const char *const comment[] = { "first", "second" };
	const struct an_pprof about = { .began_ns = 1700000000000000000,
					.lasted_ns = 2000000000,
					.period = 128,
					.period_type = "cpu",
					.period_unit = "cycles",
					.comment = comment,
					.ncomments = COUNT(comment) };

	(void)state;
	assert_profile(agg, COUNT(agg), &about,
		       "type samples in count\n"
		       "default samples\n"
		       "type wait_ns in nanoseconds\n"
		       "function 1: count(), count()\n"
		       "location 1 in mapping 0: function 1\n"
		       "function 2: app, app\n"
		       "location 2 in mapping 0: function 2\n"
		       "mapping 1 of app, functions\n"
		       "function 3: app`main, app`main\n"
		       "location 3 in mapping 1: function 3\n"
		       "mapping 2 of /lib/libc.so.6, functions\n"
		       "function 4: libc`read, libc`read\n"
		       "location 4 in mapping 2: function 4\n"
		       "mapping 3 of vmlinux, functions\n"
		       "function 5: vmlinux`vfs_read, vmlinux`vfs_read\n"
		       "location 5 in mapping 3: function 5\n"
		       "function 6: @wait_ns, @wait_ns\n"
		       "location 6 in mapping 0: function 6\n"
		       "sample at 4 3 2: 200 0\n"
		       "sample at 5 4 3 2: 3 0\n"
		       "sample at 2: 0 1500\n"
		       "began 1700000000000000000\n"
		       "lasted 2000000000\n"
		       "period of cpu in cycles\n"
		       "period 128\n"
		       "comment first\n"
		       "comment second\n");
}

static void a_sum_has_the_unit_that_its_name_ends_with(void **state)
{
	static const struct {
		const char *name;
		uint32_t fn;
		const char *wanted;
	} rows[] = {
		{ "t_ns", AGG_SUM, "type t_ns in nanoseconds\ndefault t_ns\n" },
		{ "t_us", AGG_SUM, "type t_us in microseconds\ndefault t_us\n" },
		{ "t_ms", AGG_SUM, "type t_ms in milliseconds\ndefault t_ms\n" },
		{ "bytes", AGG_SUM, "type bytes in bytes\ndefault bytes\n" },
		{ "t", AGG_SUM, "type t in count\ndefault t\n" },
		{ "t_ns", AGG_COUNT, "type t_ns in count\ndefault t_ns\n" },
		{ "", AGG_SUM, "type sum in count\ndefault sum\n" },
		{ "", AGG_COUNT, "type samples in count\ndefault samples\n" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct an_row row = { .sum = 7 };
		const struct an_agg agg = { .name = rows[i].name, .fn = rows[i].fn, .row = &row, .nrows = 1 };
		struct buf wanted = { 0 };

		buf_printf(&wanted, "%sfunction 1: %s%s%s, ", rows[i].wanted, *rows[i].name ? "@" : "", rows[i].name,
			   *rows[i].name         ? "" :
			   rows[i].fn == AGG_SUM ? "sum()" :
						   "count()");
		buf_printf(&wanted, "%s%s%s\nlocation 1 in mapping 0: function 1\n", *rows[i].name ? "@" : "",
			   rows[i].name,
			   *rows[i].name         ? "" :
			   rows[i].fn == AGG_SUM ? "sum()" :
						   "count()");
		/* without keys the aggregation is the one name that its sample has */
		buf_puts(&wanted, "sample at 1: 7\n");
		assert_profile(&agg, 1, &(struct an_pprof){ 0 }, wanted.p);
		buf_free(&wanted);
	}
}

static void a_sum_below_0_stays(void **state)
{
	struct an_row row = { .sum = -7 };
	const struct an_agg agg = { .name = "t", .fn = AGG_SUM, .value_signed = true, .row = &row, .nrows = 1 };

	(void)state;
	assert_profile(
		&agg, 1, &(struct an_pprof){ 0 },
		"type t in count\ndefault t\nfunction 1: @t, @t\nlocation 1 in mapping 0: function 1\nsample at 1: -7\n");
}

static void without_aggregations_there_is_a_type_and_what_is_not_known_is_left_out(void **state)
{
	(void)state;
	assert_profile(NULL, 0, &(struct an_pprof){ 0 }, "type samples in count\n");
	assert_profile(NULL, 0, &(struct an_pprof){ .lasted_ns = 127, .period_type = "cpu", .period_unit = "cycles" },
		       "type samples in count\nlasted 127\n");
	assert_profile(NULL, 0, &(struct an_pprof){ .began_ns = UINT64_MAX },
		       "type samples in count\nbegan 18446744073709551615\n");
}

/* A frame has the module before its mark, if that is no longer than a file's name may be; a key has none, whatever is
 * in it. Equal modules are one mapping, and bytes that are no UTF-8 are '?'. */
static void modules_are_mappings_and_names_are_utf8(void **state)
{
	static char longest[258], too_long[259];
	const char *frame[] = { "a`x", "a`y", "no-module", "b\xff`z", longest, too_long };
	const struct an_value stack = { .kind = SLOT_USTACK, .frame = frame, .nframes = COUNT(frame), .func = frame };
	struct an_row row = { KEYS(STR("k`ey"), stack), .sum = 1 };
	const struct an_agg agg = { .name = "n", .fn = AGG_COUNT, .row = &row, .nrows = 1 };
	struct buf wanted = { 0 };

	(void)state;
	memset(longest, 'm', 255);
	strcpy(longest + 255, "`f");
	memset(too_long, 'n', 256);
	strcpy(too_long + 256, "`f");
	buf_puts(&wanted, "type n in count\ndefault n\n"
			  "function 1: @n, @n\nlocation 1 in mapping 0: function 1\n"
			  "function 2: k`ey, k`ey\nlocation 2 in mapping 0: function 2\n");
	buf_printf(&wanted, "function 3: %s, %s\nlocation 3 in mapping 0: function 3\n", too_long, too_long);
	buf_printf(&wanted, "mapping 1 of %.255s, functions\nfunction 4: %s, %s\nlocation 4 in mapping 1: function 4\n",
		   longest, longest, longest);
	buf_puts(&wanted, "mapping 2 of b?, functions\nfunction 5: b?`z, b?`z\nlocation 5 in mapping 2: function 5\n"
			  "function 6: no-module, no-module\nlocation 6 in mapping 0: function 6\n"
			  "mapping 3 of a, functions\nfunction 7: a`y, a`y\nlocation 7 in mapping 3: function 7\n"
			  "function 8: a`x, a`x\nlocation 8 in mapping 3: function 8\n"
			  "sample at 8 7 6 5 4 3 2: 1\n");
	assert_profile(&agg, 1, &(struct an_pprof){ 0 }, wanted.p);
	buf_free(&wanted);
}

/* More than one piece of output, and numbers of several bytes. */
static void a_long_profile_is_whole(void **state)
{
	enum { ROWS = 20000 };
	struct an_row *rows = test_calloc(ROWS, sizeof(*rows));
	struct an_value *keys = test_calloc(ROWS, sizeof(*keys));
	const struct an_agg agg = { .name = "n", .fn = AGG_COUNT, .row = rows, .nrows = ROWS };
	struct an_flame f = { 0 };
	struct buf zipped = { 0 }, bytes = { 0 };
	char(*name)[16] = test_calloc(ROWS, sizeof(*name));
	uint64_t samples = 0, strings = 0, sum = 0;
	struct wire all;

	(void)state;
	for (uint32_t i = 0; i < ROWS; i++) {
		snprintf(name[i], sizeof(name[i]), "%u-%x", i, i * 2654435761u);
		keys[i] = (struct an_value){ .kind = SLOT_STRING, .s = name[i], .len = sizeof(name[i]) };
		rows[i] = (struct an_row){ .key = &keys[i], .nkeys = 1, .sum = (int64_t)(i * UINT64_C(1000003)) };
	}
	an_flame_add(&f, &agg);
	an_flame_sort(&f);
	an_pprof_put(&zipped, &f, &(struct an_pprof){ 0 });
	an_flame_free(&f);
	assert_false(zipped.failed);
	assert_true(zipped.n > 3 * 16384);
	buf_gunzip(&bytes, &zipped);
	all = (struct wire){ (const uint8_t *)bytes.p, (const uint8_t *)bytes.p + bytes.n };
	for (struct field at, in; wire_field(&all, &at);) {
		strings += at.number == 6;
		samples += at.number == 2;
		while (at.number == 2 && wire_field(&at.part, &in))
			sum += in.number == 2 ? wire_varint(&in.part) : 0;
	}
	assert_int_equal(samples, ROWS - 1); /* one has the value 0 */
	assert_int_equal(strings, ROWS - 1 + 4);
	assert_int_equal(sum, UINT64_C(1000003) * (ROWS - 1) * ROWS / 2);
	buf_free(&zipped);
	buf_free(&bytes);
	test_free(name);
	test_free(keys);
	test_free(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample_has_its_frames_the_innermost_first_and_a_value_of_its_own_aggregation),
		cmocka_unit_test(a_sum_has_the_unit_that_its_name_ends_with),
		cmocka_unit_test(a_sum_below_0_stays),
		cmocka_unit_test(without_aggregations_there_is_a_type_and_what_is_not_known_is_left_out),
		cmocka_unit_test(modules_are_mappings_and_names_are_utf8),
		cmocka_unit_test(a_long_profile_is_whole),
	};

	return cmocka_run_group_tests_name("pprof", tests, NULL, NULL);
}
