/*
 * The same program must give the same answer in the kernel and in the vm: every
 * script of test/differential runs in both, and what they print is compared
 * byte for byte.  The scripts use nothing that may differ: no time, no pid.
 *
 * So do programs that a generator makes (test/lib/session/generate.c).  Each comes from a number, which a failure
 * names; TALLY_DIFFERENTIAL_SEED=N runs that one alone and prints it, TALLY_DIFFERENTIAL_PROGRAMS=N runs N of them, and
 * in proportion as many large ones.
 */
#include <dirent.h>
#include <sys/wait.h>

#include "session/differential_test_int.h"
#include "session/generate.h"

static void read_file(const char *path, struct buf *to)
{
	char part[4096];
	FILE *f = fopen(path, "re");

	if (!f)
		fail_msg("%s can't be read", path);
	for (size_t n; (n = fread(part, 1, sizeof(part), f)) > 0;)
		buf_put(to, part, n);
	fclose(f);
}

/* Whether the vm and the kernel print the same; if not, what differs. */
static bool answers_are_alike(const char *path, const struct buf *text, struct buf *why)
{
	struct buf kernel = { 0 }, vm = { 0 };

	buf_clear(why);
	run_script(path, text->p, text->n, TALLY_TRACE_VM, &vm);
	run_script(path, text->p, text->n, 0, &kernel);
	for (const char *v = vm.p, *k = kernel.p; why->n == 0 && (*v || *k);) {
		int nv = (int)strcspn(v, "\n"), nk = (int)strcspn(k, "\n");

		if (nv != nk || memcmp(v, k, (size_t)nv))
			buf_printf(why, "%s: the vm says \"%.*s\", the kernel \"%.*s\"\n", path, nv, v, nk, k);
		v += nv + !!v[nv];
		k += nk + !!k[nk];
	}
	if (why->n == 0 && strstr(vm.p, "failed: "))
		buf_printf(why, "%s: %s", path, vm.p);
	buf_free(&kernel);
	buf_free(&vm);
	return why->n == 0;
}

static void need_root(void)
{
	if (geteuid() != 0) {
		print_message("skipped: loading programs needs root\n");
		skip();
	}
}

static void kernel_and_vm_answer_alike(void **state)
{
	const char *dir = getenv("TALLY_DIFFERENTIAL");
	struct dirent **e;
	int n;

	(void)state;
	need_root();
	dir = dir ? dir : "test/differential";
	n = scandir(dir, &e, NULL, alphasort);
	if (n < 0)
		fail_msg("%s: not there; run from the project's root", dir);
	for (int i = 0; i < n; i++) {
		char path[600];
		struct buf text = { 0 };

		snprintf(path, sizeof(path), "%s/%s", dir, e[i]->d_name);
		if (strstr(e[i]->d_name, ".d")) {
			struct buf why = { 0 };

			read_file(path, &text);
			if (!answers_are_alike(path, &text, &why))
				fail_msg("%s", why.p);
			buf_free(&why);
		}
		buf_free(&text);
		free(e[i]);
	}
	free(e);
}

/* ---- generated programs ---------------------------------------------------------- */

#define PROGRAMS 2000
#define WORKERS 4
#define CLAUSES 4 /* a program is loaded once for all of them */
#define LARGE_PROGRAMS 12
#define LARGE_CLAUSES 60

/*
 * The first and last number of the programs: `usual` of them, or TALLY_DIFFERENTIAL_PROGRAMS and in proportion fewer
 * where fewer are usual, or one alone.
 */
static uint64_t number_near(uint64_t usual, uint64_t *last)
{
	const char *only = getenv("TALLY_DIFFERENTIAL_SEED"), *programs = getenv("TALLY_DIFFERENTIAL_PROGRAMS");

	*last = only ? strtoull(only, NULL, 0) : programs ? strtoull(programs, NULL, 0) * usual / PROGRAMS : usual;
	return only ? *last : 1;
}

/*
 * What the compiler accepts the kernel must take: programs of up to LARGE_CLAUSES clauses, with short strings and
 * long ones.  What is refused is refused before the load, and so in the vm as in the kernel.
 */
static void programs_that_the_compiler_accepts_are_not_refused_by_the_kernel(void **state)
{
	uint64_t last, n = number_near(LARGE_PROGRAMS, &last), refused = 0, all = last - n + 1;
	struct gen g = { 0 }, sized = { 0 };

	(void)state;
	need_root();
	for (; n <= last; n++) {
		struct buf kernel = { 0 }, vm = { 0 };
		unsigned clauses, strsize;
		char name[32];
		int in_vm, in_kernel;

		snprintf(name, sizeof(name), "large-%llu", (unsigned long long)n);
		gen_begin(&sized, n + 1000000);
		clauses = 1 + pick(&sized, LARGE_CLAUSES);
		strsize = 32u << pick(&sized, 7);
		gen_program(&g, n, clauses);
		PUT(&sized, "#pragma D option strsize=%u\n%s", strsize, g.to.p);
		in_vm = run_script(name, sized.to.p, sized.to.n, TALLY_TRACE_VM, &vm);
		in_kernel = run_script(name, sized.to.p, sized.to.n, 0, &kernel);
		refused += in_vm == -TALLY_ENOTSUP;
		if (in_vm != in_kernel || (in_vm < 0 && in_vm != -TALLY_ENOTSUP))
			fail_msg("%s, %u clauses, strsize=%u: the vm answers %d, the kernel %d: %.300s", name, clauses,
				 strsize, in_vm, in_kernel, in_kernel < 0 ? kernel.p : vm.p);
		if (in_vm >= 0 && strcmp(vm.p, kernel.p) != 0)
			fail_msg("%s, %u clauses, strsize=%u: vm and kernel differ", name, clauses, strsize);
		buf_free(&kernel);
		buf_free(&vm);
	}
	print_message("%llu of %llu programs refused before the load\n", (unsigned long long)refused,
		      (unsigned long long)all);
	assert_true(refused <= all / 2);
	buf_free(&g.to);
	buf_free(&sized.to);
}

/* Every `step`-th program from the n-th to the last; the first whose answers differ is told. */
static bool generated_are_alike(uint64_t n, uint64_t last, uint64_t step)
{
	struct gen g = { 0 };
	struct buf why = { 0 };
	bool alike = true;

	for (; alike && n <= last; n += step) {
		char name[32];

		snprintf(name, sizeof(name), "generated-%llu", (unsigned long long)n);
		gen_program(&g, n, CLAUSES);
		if (getenv("TALLY_DIFFERENTIAL_SEED"))
			fputs(g.to.p, stdout); /* cmocka cuts long messages */
		alike = answers_are_alike(name, &g.to, &why);
	}
	if (!alike)
		fputs(why.p, stderr);
	fflush(stdout);
	buf_free(&g.to);
	buf_free(&why);
	return alike;
}

/* The kernel lets a program wait when it ends: several processes share the programs. */
static void generated_programs_answer_alike(void **state)
{
	uint64_t last, n = number_near(PROGRAMS, &last);
	pid_t child[WORKERS];
	int failed = 0;

	(void)state;
	need_root();
	fflush(NULL);
	for (uint64_t i = 0; i < WORKERS; i++) {
		child[i] = fork();
		assert_true(child[i] >= 0);
		if (child[i] == 0)
			_exit(generated_are_alike(n + i, last, WORKERS) ? 0 : 1);
	}
	for (uint64_t i = 0; i < WORKERS; i++) {
		int status = 1;

		failed += waitpid(child[i], &status, 0) != child[i] || status != 0;
	}
	assert_int_equal(failed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_and_vm_answer_alike),
		cmocka_unit_test(generated_programs_answer_alike),
		cmocka_unit_test(programs_that_the_compiler_accepts_are_not_refused_by_the_kernel),
	};

	return cmocka_run_group_tests_name("differential", tests, NULL, NULL);
}
