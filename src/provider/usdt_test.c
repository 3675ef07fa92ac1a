/* usdt_test.c: static probes of this process, whose notes are written here. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "provider/found_test_int.h"
#include "provider/provider_int.h"

/* A note for the instruction before it, as src/symbol/code.c reads it; the name is an assembler's directive. */
#define NOTE(name, args)                                        \
	"990:\tnop\n"                                           \
	".pushsection .note.stapsdt, \"?\", \"note\"\n"         \
	".balign 4\n.4byte 992f - 991f, 994f - 993f, 3\n"       \
	"991: .asciz \"stapsdt\"\n992: .balign 4\n"             \
	"993: .8byte 990b, _.stapsdt.base, 0\n"                 \
	".asciz \"tallyunit\"\n" name "\n.asciz \"" args "\"\n" \
	"994: .balign 4\n.popsection\n"
#define LETTERS(n, letter) ".rept " #n "\n.ascii \"" letter "\"\n.endr\n"

#ifdef __aarch64__
#define FOUR "4@w1"
#define EIGHT "8@x2"
#define SIGNED_TWO "-2@w3"
#else
#define FOUR "4@%eax"
#define EIGHT "8@%rdx"
#define SIGNED_TWO "-2@%cx"
#endif

__asm__(".text\n"
	".type tally_usdt_target, %function\n"
	"tally_usdt_target:\n" NOTE(".asciz \"plain\"", "") NOTE(".asciz \"two__words\"", FOUR " " EIGHT " " SIGNED_TWO)
		NOTE(".asciz \"a_b__c___d__\"", "") NOTE(LETTERS(126, "x") ".asciz \"y\"",
							 "") NOTE(LETTERS(127, "z") ".asciz \"zz\"", "")
			NOTE(LETTERS(126, "w") ".asciz \"__w\"", "") NOTE(LETTERS(127, "v") ".asciz \"__v\"", "")
				NOTE(".asciz \"plain\"", EIGHT) ".rept 40\n" NOTE(
					".asciz \"often\"",
					"") ".endr\nret\n"
					    ".size tally_usdt_target, . - tally_usdt_target\n"
					    ".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"
					    ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n"
					    "_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n"
					    ".popsection\n");

enum { NAME_CHARACTERS = 127 };

/* Of provider PREFIX and this process. */
static int usdt_match(struct probes *t, const char *prefix, const char *func, const char *name, struct found *f,
		      struct err *e)
{
	char prov[64];

	snprintf(prov, sizeof(prov), "%s%d", prefix, getpid());
	return found_match(f, t, &(struct d_probedesc){ prov, "", func, name }, e);
}

static void two_underscores_are_a_dash_and_either_name_finds_it(void **state)
{
	static const char *const row[][2] = {
		{ "plain", "plain" },         { "two-words", "two-words" },    { "two__words", "two-words" },
		{ "a_b-c-_d-", "a_b-c-_d-" }, { "a_b__c___d__", "a_b-c-_d-" }, { "a_b*", "a_b-c-_d-" }
	};
	struct probes *t = probes_table((struct prov_opts){ 0 });
	struct found f;
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		if (usdt_match(t, "tallyunit", "", row[i][0], &f, &e) < 1)
			fail_msg("%s: %s", row[i][0], e.text);
		assert_string_equal(probes_get(t, f.id[0])->name, row[i][1]);
		assert_string_equal(probes_get(t, f.id[0])->func, "tally_usdt_target");
		assert_string_equal(probes_get(t, f.id[0])->def_prov, "tallyunit");
		assert_int_equal(probes_get(t, f.id[0])->arm, ARM_USER_PLACE);
	}
	assert_true(usdt_match(t, "tallyunit", "tally_usdt_target", "plain", &f, &e) > 0);
	assert_int_equal(usdt_match(t, "tallyunit", "other", "plain", &f, &e), -TALLY_ENOPROBE);
	assert_int_equal(usdt_match(t, "tallyunit", "", "two_words", &f, &e), -TALLY_ENOPROBE);
	assert_non_null(strstr(e.text, "has no such probe; did you mean two__words?"));
	probes_close(t);
}

/* 127 characters are the most: a longer name is cut, and two underscores there are one dash or none of it. */
static void a_long_name_is_cut(void **state)
{
	static const struct {
		char first, last;
	} row[] = { { 'x', 'y' }, { 'z', 'z' }, { 'w', '-' }, { 'v', 'v' } };
	struct probes *t = probes_table((struct prov_opts){ 0 });
	struct found f;
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		const char pattern[] = { row[i].first, '*', '\0' };
		const char *name;

		assert_int_equal(usdt_match(t, "tallyunit", "", pattern, &f, &e), 1);
		name = probes_get(t, f.id[0])->name;
		assert_int_equal(strlen(name), NAME_CHARACTERS);
		assert_int_equal(strspn(name, (char[]){ row[i].first, '\0' }),
				 NAME_CHARACTERS - (row[i].first != row[i].last));
		assert_int_equal(name[NAME_CHARACTERS - 1], row[i].last);
		assert_int_equal(usdt_match(t, "tallyunit", "", name, &f, &e), 1);
	}
	probes_close(t);
}

static void arguments_are_as_wide_as_the_note_says(void **state)
{
	struct probes *t = probes_table((struct prov_opts){ 0 });
	const struct probe *p;
	struct found f;
	struct err e;

	(void)state;
	assert_int_equal(usdt_match(t, "tallyunit", "", "two-words", &f, &e), 1);
	p = probes_get(t, f.id[0]);
	assert_int_equal(p->place->b.noperands, 3);
	assert_string_equal(probe_args(p, 0)->value, "uint32_t");
	assert_string_equal(probe_args(p, 1)->value, "uint64_t");
	assert_string_equal(probe_args(p, 2)->value, "int16_t");
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(probe_args(p, i)->arg, i);
	assert_null(probe_args(p, 3));
	probes_close(t);
}

/* Two notes of one name are one probe with two places; asked for again it has no more. */
static void notes_of_one_name_are_one_probe(void **state)
{
	struct probes *t = probes_table((struct prov_opts){ 0 });
	struct found f;
	struct err e;

	(void)state;
	for (int again = 0; again < 2; again++) {
		const struct user_place *at;
		uint32_t n = 0;

		assert_int_equal(usdt_match(t, "tallyunit", "", "plain", &f, &e), 2);
		assert_int_equal(f.id[0], f.id[1]);
		for (at = probes_get(t, f.id[0])->place; at; at = at->next) {
			assert_int_equal(at->pid, getpid());
			n++;
		}
		assert_int_equal(n, 2);
	}
	assert_int_equal(usdt_match(t, "tallyunit", "", "*", &f, &e), 8 + 40);
	assert_int_equal(usdt_match(t, "tally*", "", "two-words", &f, &e), 1);
	probes_close(t);
}

static void what_no_note_has_is_refused_with_the_nearest(void **state)
{
	struct probes *t = probes_table((struct prov_opts){ 0 });
	char words[100];
	struct found f;
	struct err e;

	(void)state;
	assert_int_equal(usdt_match(t, "tallyunit", "", "plaim", &f, &e), -TALLY_ENOPROBE);
	snprintf(words, sizeof(words),
		 "usdt: provider \"tallyunit\" of process %d has no such probe; did you mean plain?", getpid());
	assert_string_equal(e.text, words);
	assert_int_equal(usdt_match(t, "tallyunix", "", "plain", &f, &e), -TALLY_ENOPROBE);
	snprintf(words, sizeof(words),
		 "usdt: process %d has no static probes of a provider \"tallyunix\"; did you mean tallyunit?",
		 getpid());
	assert_string_equal(e.text, words);
	/* "pid" is another provider's, and a name of 128 characters is none of ours */
	assert_int_equal(usdt_match(t, "pid", "", "two-words", &f, &e), -TALLY_ENOPROBE);
	assert_null(strstr(e.text, "usdt"));
	probes_close(t);
}

/* Probes of processes are found here only: not beside records, unless for a list, and not for another machine. */
static void probes_of_processes_are_only_without_on(void **state)
{
	static const struct {
		int line;
		bool records, lists, vm, transport, here;
	} row[] = {
		{ __LINE__, false, false, false, false, true }, { __LINE__, false, true, false, false, true },
		{ __LINE__, true, true, false, false, true },   { __LINE__, true, false, false, false, false },
		{ __LINE__, false, false, true, false, false }, { __LINE__, false, true, true, false, false },
		{ __LINE__, false, false, false, true, false }, { __LINE__, true, true, false, true, false },
	};
	struct hv_transport transport = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct probes *t =
			probes_table((struct prov_opts){ .records = row[i].records,
							 .lists = row[i].lists,
							 .vm = row[i].vm,
							 .transport = row[i].transport ? &transport : NULL });
		static const char *const prov[] = { "usdt", "pid" };
		char words[120];
		struct found f;
		struct err e;

		for (size_t k = 0; k < COUNT(prov); k++) {
			const bool is_pid = k == 1;
			int rc = usdt_match(t, is_pid ? "pid" : "tallyunit", is_pid ? "tally_usdt_target" : "",
					    is_pid ? "entry" : "two-words", &f, &e);

			snprintf(words, sizeof(words),
				 "%s: its probes fire in processes of this machine: only without --on", prov[k]);
			if (rc != (row[i].here ? 1 : -TALLY_ENOPROBE) || strcmp(e.text, row[i].here ? "" : words))
				fail_msg("line %d: %d: %s", row[i].line, rc, e.text);
		}
		probes_close(t);
	}
}

/* A provider's name ends in a process id: 10 digits at most, and a number that a process can have. */
static void a_process_id_ends_a_name_and_is_a_number_of_a_process(void **state)
{
	static const struct {
		const char *prov;
		uint32_t pid; /* 0: there is none */
		size_t before;
	} row[] = {
		{ "pid1", 1, 3 },
		{ "a1b22", 22, 3 },
		{ "pid2147483647", 2147483647, 3 },
		{ "pid0000000001", 1, 3 },
		{ "pid9", 9, 3 },
		{ "pid90", 90, 3 },
		{ "pid", 0, 0 },
		{ "pid0", 0, 0 },
		{ "pid2147483648", 0, 0 },
		{ "pid4294967297", 0, 0 },
		{ "pid00000000001", 0, 0 },
		{ "pid1x", 0, 0 },
		{ "1", 0, 0 },
		{ "", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		uint32_t pid = 77;
		const char *digits = user_process_of(row[i].prov, &pid);

		if (digits != (row[i].pid ? row[i].prov + row[i].before : NULL) ||
		    pid != (row[i].pid ? row[i].pid : 77))
			fail_msg("%s: %s, %u", row[i].prov, digits ? digits : "none", pid);
	}
}

/* ---- of whichever process --------------------------------------------------------------------- */

static int usdt_match_any(struct probes *t, const char *prov, const char *name, struct found *f, struct err *e)
{
	return found_match(f, t, &(struct d_probedesc){ prov, "", "tally_usdt_target", name }, e);
}

/* Those of this process or of whichever that are no stand-ins, each once: more processes may have them. */
static uint32_t found_count_own(struct probes *t, const struct found *f, const struct probe **last)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		const struct probe *p = probes_get(t, f->id[i]);

		if (p != *last && !p->is_later && (probe_is_any(p) || p->place->pid == (uint32_t)getpid())) {
			*last = p;
			n++;
		}
	}
	return n;
}

/* A pattern that any process id matches is one probe for all processes, if somebody waits; a narrower one is of those
 * that are there. */
static void a_pattern_of_any_process_id_is_one_probe_while_it_waits(void **state)
{
	static const struct {
		int line;
		const char *prov;
		enum prov_waits waits;
		bool any;
	} row[] = {
		{ __LINE__, "tallyunit*", WAITS_ALL, true },
		{ __LINE__, "tallyunit*", WAITS_NONE, false },
		{ __LINE__, "tallyunit[0-9]*", WAITS_MATCHED, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct probes *t = probes_table((struct prov_opts){ .waits = row[i].waits });
		const struct probe *p = NULL;
		char named[40];
		struct found f;
		struct err e;

		if (usdt_match_any(t, row[i].prov, "two-words", &f, &e) < 1)
			fail_msg("line %d: %s", row[i].line, e.text);
		snprintf(named, sizeof(named), row[i].any ? "tallyunit*" : "tallyunit%d", getpid());
		if (found_count_own(t, &f, &p) != 1 || probe_is_any(p) != row[i].any || strcmp(p->prov_name, named))
			fail_msg("line %d: %u, %s", row[i].line, found_count_own(t, &f, &p), p ? p->prov_name : "");
		if (!!probes_waits(t) != (row[i].waits != WAITS_NONE))
			fail_msg("line %d: who waits", row[i].line);
		probes_close(t);
	}
}

static void a_pattern_that_nobody_has_is_refused_and_may_wait(void **state)
{
	struct probes *t = probes_table((struct prov_opts){ .waits = WAITS_ALL });
	struct found f;
	struct err e;

	(void)state;
	assert_int_equal(usdt_match_any(t, "tallyunix*", "two-words", &f, &e), -TALLY_ENOPROBE);
	assert_string_equal(e.text, "usdt: no process has static probes of a provider \"tallyunix*\" now, "
				    "and no provider is called so");
	assert_non_null(probes_waits(t));
	assert_int_equal(f.n, 1);
	assert_true(probes_get(t, f.id[0])->is_later);
	probes_close(t);
}

struct come {
	uint32_t n, outdated;
};

static int come_count_probe(void *arg, const struct user_wait *w, const struct user_file *f, uint32_t id)
{
	struct come *c = arg;

	assert_int_equal(w->pid, 0);
	assert_string_equal(w->d.name, "two-words");
	assert_non_null(f->code);
	assert_true(id > 0);
	c->n++;
	return 0;
}

static void come_count_outdated(void *arg, const struct user_file *f)
{
	struct come *c = arg;

	(void)f;
	c->outdated++;
}

/* A file that no process maps, with this program in it. */
static int copy_of_this_program(void)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to = memfd_create("copy", MFD_CLOEXEC);
	ssize_t n;

	assert_true(from >= 0 && to >= 0);
	while ((n = sendfile(to, from, NULL, 1 << 20)) > 0)
		;
	assert_int_equal(n, 0);
	close(from);
	return to;
}

/* A program begins that no process was before: it has what waits. Once it is known, it has nothing new. */
static void a_program_that_begins_later_has_the_probes_that_wait(void **state)
{
	struct probes *t = probes_table((struct prov_opts){ .waits = WAITS_ALL });
	int fd = copy_of_this_program(), text = memfd_create("text", MFD_CLOEXEC);
	struct come c = { 0 };
	struct found f;
	struct err e;

	(void)state;
	assert_false(probes_wait_for(t, fd));
	assert_true(usdt_match_any(t, "tallyu?it*", "two-words", &f, &e) > 0);
	assert_false(probes_wait_for(t, text));
	close(text);
	e = (struct err){ 0 };
	for (int again = 0; again < 2; again++) {
		assert_int_equal(probes_look_at(t, dup(fd), "/bin/usdt_test", come_count_outdated, come_count_probe, &c,
						&e),
				 0);
		assert_int_equal(c.n, 1);
		assert_int_equal(c.outdated, 0);
	}
	/* it is written anew */
	assert_int_equal(ftruncate(fd, lseek(fd, 0, SEEK_END) + 1), 0);
	assert_true(probes_wait_for(t, fd));
	assert_int_equal(probes_look_at(t, dup(fd), "/bin/usdt_test", come_count_outdated, come_count_probe, &c, &e),
			 0);
	assert_int_equal(c.n, 2);
	assert_int_equal(c.outdated, 1);
	assert_string_equal(e.text, "");
	close(fd);
	probes_close(t);
}

static void a_failing_allocation_leaves_nothing_behind(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		struct probes *t = NULL;
		struct found f = { 0 };
		struct err e = { 0 };
		char prov[64];
		bool failed;
		int rc;

		snprintf(prov, sizeof(prov), "tallyunit%d", getpid());
		mem_fail_at(n);
		rc = probes_open(&t,
				 &(struct prov_opts){ .sysfs = "test/sysfs/none", .conf = "/nonexistent/dcpc.conf" });
		if (rc >= 0)
			rc = probes_match(t, &(struct d_probedesc){ prov, "", "", "two-words" }, found_add, &f, &e);
		probes_close(t);
		failed = mem_failed();
		mem_fail_at(0);
		assert_int_equal(mem_live(), 0);
		/* A library that can't be read is passed over. */
		if (rc < 0 ? !failed || (rc != -TALLY_ENOMEM && !*e.text) : rc != 1)
			fail_msg("allocation %ld: %d: %s", n, rc, e.text);
		if (!failed)
			break;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_underscores_are_a_dash_and_either_name_finds_it),
		cmocka_unit_test(a_long_name_is_cut),
		cmocka_unit_test(arguments_are_as_wide_as_the_note_says),
		cmocka_unit_test(notes_of_one_name_are_one_probe),
		cmocka_unit_test(what_no_note_has_is_refused_with_the_nearest),
		cmocka_unit_test(probes_of_processes_are_only_without_on),
		cmocka_unit_test(a_process_id_ends_a_name_and_is_a_number_of_a_process),
		cmocka_unit_test(a_pattern_of_any_process_id_is_one_probe_while_it_waits),
		cmocka_unit_test(a_pattern_that_nobody_has_is_refused_and_may_wait),
		cmocka_unit_test(a_program_that_begins_later_has_the_probes_that_wait),
		cmocka_unit_test(a_failing_allocation_leaves_nothing_behind),
	};

	return cmocka_run_group_tests_name("provider: usdt", tests, NULL, NULL);
}
