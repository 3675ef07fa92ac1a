/* machine_test.c: what the library this-machine.d says of the CPUs of a machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/machine.h"
#include "session/session_int.h"

static void cpus_say(const struct k_machine *m, const char *text)
{
	struct buf b = { 0 };

	machine_cpus(&b, m);
	buf_putc(&b, '\0');
	assert_false(b.failed);
	if (!strstr(b.p, text))
		fail_msg("no \"%s\" in: %s", text, b.p);
	buf_free(&b);
}

static void a_cpu_is_found_by_halves(void **state)
{
	int32_t chip[] = { 0, 0, 1, 1, 0, 0, 1, -1 }, node[] = { 3, 3, 3, 3, 3, 3, 3, 3 };
	struct k_machine m = { .ncpus = 8, .chip = chip, .node = node, .mhz = 2500, .type = "x86_64" };

	(void)state;
	cpus_say(&m, "cpu_chip = (C < 4 ? (C < 2 ? 0 : 1) : (C < 6 ? 0 : (C < 7 ? 1 : -1)));");
	cpus_say(&m, "cpu_lgrp = 3;");
	cpus_say(&m, "pi_clock = 2500;");
	m.ncpus = 1;
	m.mhz = 0;
	cpus_say(&m, "cpu_chip = 0;");
	cpus_say(&m, "__without_pi_clock");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cpu_is_found_by_halves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
