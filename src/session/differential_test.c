/*
 * The same program must give the same answer in the kernel and in the vm: every
 * script of test/differential runs in both, and what they print is compared
 * byte for byte.  The scripts use nothing that may differ: no time, no pid.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/base.h"
#include <tally/tally.h>

static int keep(void *arg, const char *text, size_t n)
{
	buf_put(arg, text, n);
	return 0;
}

/* Everything that a run of the script hands over, and its status. */
static int run(const char *path, const char *text, size_t n, uint32_t flags, struct buf *out)
{
	struct tally_trace_opts o = { .size = sizeof(o), .out = keep, .note = keep, .arg = out, .flags = flags };
	struct tally_trace *t = NULL;
	int rc = tally_trace_open(&t, &o);

	/* The CPU that a record names may differ: quiet leaves it out. */
	if (rc == 0 && (rc = tally_trace_option(t, "quiet", NULL)) >= 0 &&
	    (rc = tally_trace_source(t, path, text, n)) >= 0 && (rc = tally_trace_compile(t)) >= 0 &&
	    (rc = tally_trace_go(t)) >= 0)
		rc = tally_trace_stop(t);
	if (rc < 0)
		buf_printf(out, "failed: %d: %s (%s)\n", rc, tally_trace_error(t), tally_trace_reason(t));
	else
		buf_printf(out, "status %d\n", tally_trace_status(t));
	tally_trace_close(t);
	return rc;
}

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

static void compare(const char *path)
{
	struct buf text = { 0 }, kernel = { 0 }, vm = { 0 };

	read_file(path, &text);
	run(path, text.p, text.n, TALLY_TRACE_VM, &vm);
	run(path, text.p, text.n, 0, &kernel);
	for (const char *v = vm.p, *k = kernel.p; *v || *k;) {
		int nv = (int)strcspn(v, "\n"), nk = (int)strcspn(k, "\n");

		if (nv != nk || memcmp(v, k, (size_t)nv))
			fail_msg("%s: the vm says \"%.*s\", the kernel \"%.*s\"", path, nv, v, nk, k);
		v += nv + !!v[nv];
		k += nk + !!k[nk];
	}
	if (strstr(vm.p, "failed: "))
		fail_msg("%s: %s", path, vm.p);
	buf_free(&text);
	buf_free(&kernel);
	buf_free(&vm);
}

static void kernel_and_vm_answer_alike(void **state)
{
	const char *dir = getenv("TALLY_DIFFERENTIAL");
	struct dirent **e;
	int n;

	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: loading programs needs root\n");
		skip();
	}
	dir = dir ? dir : "test/differential";
	n = scandir(dir, &e, NULL, alphasort);
	if (n < 0)
		fail_msg("%s: not there; run from the project's root", dir);
	for (int i = 0; i < n; i++) {
		char path[600];

		snprintf(path, sizeof(path), "%s/%s", dir, e[i]->d_name);
		if (strstr(e[i]->d_name, ".d"))
			compare(path);
		free(e[i]);
	}
	free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(kernel_and_vm_answer_alike) };

	return cmocka_run_group_tests_name("differential", tests, NULL, NULL);
}
