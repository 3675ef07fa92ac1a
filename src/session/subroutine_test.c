/*
 * Subroutines that the C library has, too, or that a few lines of C model: what they answer in the vm and in the kernel
 * is what those say.  inet_ntop(3) is the oracle for addresses, strspn(3) and strcspn(3) for strtok().
 */
#include <arpa/inet.h>

#include "session/differential_test_int.h"
#include "session/generate.h"

static void both_print(const char *script, const char *want)
{
	for (int kernel = 0; kernel <= (geteuid() == 0); kernel++) {
		struct buf got = { 0 };

		run_script("subroutines", script, strlen(script), kernel ? 0 : TALLY_TRACE_VM, &got);
		without_messages(&got);
		if (strncmp(got.p, want, strlen(want)) != 0)
			fail_msg("%s\nthe %s says\n%s\nthe oracle\n%s", script, kernel ? "kernel" : "vm", got.p, want);
		buf_free(&got);
	}
}

static void gen_ends(struct gen *g, struct buf *want, const char *script_end)
{
	PUT(g, "%s", script_end);
	both_print(g->to.p, want->p);
	buf_free(&g->to);
	buf_free(want);
}

static void addresses_are_what_inet_ntop_of_c_says(void **state)
{
	static const uint8_t bytes[] = { 0, 0, 0, 1, 9, 10, 99, 100, 127, 200, 255 };
	struct gen g = { 0 };
	struct buf want = { 0 };
	char text[64];

	(void)state;
	gen_begin(&g, 1);
	for (unsigned n = 0; n < 60; n++) {
		uint8_t a[16];
		const bool six = n % 3, mapped = n % 9 == 1;

		for (size_t i = 0; i < sizeof(a); i++)
			a[i] = pick(&g, 1 + n % 5) ? 0 : bytes[pick(&g, COUNT(bytes))];
		if (mapped) {
			memset(a, 0, 12);
			if (n % 2)
				a[10] = a[11] = 255;
		}
		PUT(&g, "BEGIN { p = (uint8_t *)alloca(16); ");
		for (size_t i = 0; i < sizeof(a); i++)
			PUT(&g, "p[%zu] = %u; ", i, a[i]);
		if (six)
			PUT(&g, "printf(\"%%s %%s\\n\", inet_ntop(10, p), inet_ntoa6(p)); }\n");
		else
			PUT(&g, "printf(\"%%s %%s\\n\", inet_ntop(2, p), inet_ntoa(p)); }\n");
		inet_ntop(six ? AF_INET6 : AF_INET, a, text, sizeof(text));
		buf_printf(&want, "%s %s\n", text, text);
	}
	gen_ends(&g, &want, "BEGIN { exit(0); }");
}

static void links_have_two_digits_a_byte(void **state)
{
	(void)state;
	both_print("BEGIN { p = (uint8_t *)alloca(20); p[0] = 0x2; p[1] = 0xfe; p[5] = 0xa0; p[19] = 9;"
		   "printf(\"%s\\n%s\\n\", link_ntop(1, p), link_ntop(32, p)); exit(0); }",
		   "02:fe:00:00:00:a0\n02:fe:00:00:00:a0:00:00:00:00:00:00:00:00:00:00:00:00:00:09\n");
}

/* D goes on at the delimiter that ended a token, C behind it. */
static void model_strtok(struct buf *want, const char *s, size_t *at, const char *delimiters)
{
	size_t n;

	*at += strspn(s + *at, delimiters);
	n = strcspn(s + *at, delimiters);
	if (n)
		buf_printf(want, "[%.*s]", (int)n, s + *at);
	else
		buf_puts(want, "NULL");
	*at += n;
}

static void tokens_are_spans_between_delimiters(void **state)
{
	struct gen g = { 0 };
	struct buf want = { 0 };

	(void)state;
	gen_begin(&g, 2);
	PUT(&g, "#pragma D option strsize=64\n");
	for (unsigned n = 0; n < 40; n++) {
		char s[60] = "";
		size_t length = pick(&g, n % 4 ? 12 : 55), at = 0;

		for (size_t i = 0; i < length; i++)
			s[i] = "ab,;xyz/"[pick(&g, 8)];
		PUT(&g, "BEGIN { this->s = \"%s\"; ", s);
		for (unsigned k = 0; k < 3; k++) {
			const char *delimiters = ONE_OF(&g, ",", ";,", "ab", "", "zyx;/,ba", "q");

			PUT(&g, "this->t = strtok(%s, \"%s\"); ", k ? "NULL" : "this->s", delimiters);
			PUT(&g,
			    "printf(\"%%s\", this->t == NULL ? \"NULL\" : strjoin(\"[\", strjoin(this->t, \"]\"))); ");
			model_strtok(&want, s, &at, delimiters);
		}
		PUT(&g, "printf(\"\\n\"); }\n");
		buf_putc(&want, '\n');
	}
	gen_ends(&g, &want, "BEGIN { exit(0); }");
}

static void tokens_go_on_in_the_next_clause_and_null_is_no_string(void **state)
{
	(void)state;
	both_print(
		"BEGIN { printf(\"%s\\n\", strtok(\"a b c\", \" \")); } BEGIN { printf(\"%s\\n\", strtok(NULL, \" \")); }"
		"BEGIN { strtok(\"abc\", NULL); } BEGIN { strtok(strstr(\"a\", \"b\"), \" \"); } BEGIN { exit(0); }"
		"ERROR { printf(\"ERROR %d\\n\", arg4); }",
		"a\nb\nERROR 1\nERROR 1\n");
}

/* Slash by slash, as a person would with a pencil. */
static void model_cleanpath(struct buf *want, const char *p)
{
	char out[80] = "";
	size_t n = 0;

	while (*p) {
		if (!strncmp(p, "//", 2)) {
			p++;
		} else if (!strncmp(p, "/./", 3)) {
			p += 2;
		} else if (!strncmp(p, "/..", 3) && (p[3] == '/' || !p[3])) {
			char *slash = strrchr(out, '/');

			n = slash ? (size_t)(slash - out) : 0;
			out[n] = '\0';
			p += 3;
			if (!*p)
				out[n++] = '/';
			out[n] = '\0';
		} else {
			out[n++] = *p++;
			out[n] = '\0';
		}
	}
	buf_printf(want, "%s\n", out);
}

static void paths_are_cleaned(void **state)
{
	struct gen g = { 0 };
	struct buf want = { 0 };

	(void)state;
	gen_begin(&g, 3);
	for (unsigned n = 0; n < 60; n++) {
		struct buf path = { 0 };

		buf_puts(&path, "");
		for (unsigned k = pick(&g, 9); k; k--)
			buf_puts(&path,
				 ONE_OF(&g, "/", "//", "/.", "/..", "/a", "/usr", ".", "..", "/.x", "/..y", "b/"));
		PUT(&g, "BEGIN { printf(\"%%s\\n\", cleanpath(\"%s\")); }\n", path.n ? path.p : "");
		model_cleanpath(&want, path.n ? path.p : "");
		buf_free(&path);
	}
	gen_ends(&g, &want, "BEGIN { exit(0); }");
}

static void locks_are_read_from_their_first_word(void **state)
{
	(void)state;
	both_print(
		"BEGIN { m = (uint64_t *)alloca(8); printf(\"%d %d \", mutex_owned(m), mutex_owner(m) == NULL);"
		"*m = 0x12345678ull | 5; printf(\"%x %d \", (uint64_t)mutex_owner(m), mutex_owned(m));"
		"printf(\"%d %d %d\\n\", mutex_owned(m), mutex_type_adaptive(m), mutex_type_spin(m)); }"
		"BEGIN { r = (uint32_t *)alloca(4); *r = 0x200; printf(\"%d%d%d \", rw_read_held(r), rw_write_held(r), rw_iswriter(r));"
		"*r = 0xff; printf(\"%d%d%d \", rw_read_held(r), rw_write_held(r), rw_iswriter(r));"
		"*r = 0x300; printf(\"%d%d%d\\n\", rw_read_held(r), rw_write_held(r), rw_iswriter(r)); }"
		"BEGIN { mutex_owner(NULL); } BEGIN { exit(0); } ERROR { printf(\"ERROR %d\\n\", arg4); }",
		"0 1 12345678 0 0 1 0\n100 011 101\nERROR 1\n");
}

static void a_mutex_is_owned_by_the_thread_whose_address_it_has(void **state)
{
	struct buf got = { 0 };
	const char *script = "BEGIN { m = (uint64_t *)alloca(8); *m = (uint64_t)curthread | 1; "
			     "printf(\"%d %d\\n\", mutex_owned(m), mutex_owner(m) == curthread); exit(0); }";

	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: loading programs needs root\n");
		skip();
	}
	run_script("mutex", script, strlen(script), 0, &got);
	assert_int_equal(strncmp(got.p, "1 1\n", 4), 0);
	buf_free(&got);
}

static void a_process_descends_from_itself_its_parent_and_the_first_one(void **state)
{
	struct buf got = { 0 };
	const char *script =
		"BEGIN { printf(\"%d %d %d\\n\", progenyof($pid), progenyof(ppid), progenyof(2147483647)); exit(0); }";

	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: loading programs needs root\n");
		skip();
	}
	run_script("progeny", script, strlen(script), 0, &got);
	assert_int_equal(strncmp(got.p, "1 1 0\n", 6), 0);
	buf_free(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_what_inet_ntop_of_c_says),
		cmocka_unit_test(links_have_two_digits_a_byte),
		cmocka_unit_test(tokens_are_spans_between_delimiters),
		cmocka_unit_test(tokens_go_on_in_the_next_clause_and_null_is_no_string),
		cmocka_unit_test(paths_are_cleaned),
		cmocka_unit_test(locks_are_read_from_their_first_word),
		cmocka_unit_test(a_mutex_is_owned_by_the_thread_whose_address_it_has),
		cmocka_unit_test(a_process_descends_from_itself_its_parent_and_the_first_one),
	};

	return cmocka_run_group_tests_name("subroutine", tests, NULL, NULL);
}
