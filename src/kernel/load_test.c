/* load_test.c: what the verifier says, in lines of D; names that become offsets. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/handmade_int.h"

/* ---- logs as the verifier writes them ------------------------------------------ */

static const char *refused(const char *log, uint32_t nins, struct err *e)
{
	uint32_t line[64];
	struct img_prog p = { .name = "BEGIN", .line = line, .nins = nins };

	for (uint32_t i = 0; i < COUNT(line); i++)
		line[i] = 100 + i;
	*e = (struct err){ 0 };
	assert_int_equal(load_refused(&p, log, e), -TALLY_EVERIFY);
	return e->text;
}

static void last_instruction_of_the_log_is_the_culprit(void **state)
{
	struct err e;

	(void)state;
	assert_string_equal(refused("0: R1=ctx() R10=fp0\n"
				    "0: (b7) r0 = 0                        ; R0_w=0\n"
				    "1: (79) r3 = *(u64 *)(r10 -8)\n"
				    "invalid read from stack R10 off=-8 size=8\n"
				    "processed 2 insns (limit 1000000) max_states_per_insn 0 total_states 0\n",
				    4, &e),
			    "line 101: the kernel refused this: invalid read from stack R10 off=-8 size=8 "
			    "(instruction 1: (79) r3 = *(u64 *)(r10 -8))");
}

static void reason_that_names_an_instruction_is_used(void **state)
{
	struct err e;

	(void)state;
	assert_non_null(strstr(refused("unreachable insn 3\nprocessed 0 insns\n", 5, &e), "line 103"));
	assert_non_null(strstr(refused("jump out of range from insn 2 to 9\n", 5, &e), "line 102"));
}

static void log_without_instruction_names_the_program(void **state)
{
	struct err e;

	(void)state;
	assert_string_equal(refused("BPF program is too large. Processed 1000001 insn\n", 5, &e),
			    "the kernel refused program BEGIN: BPF program is too large. Processed 1000001 insn");
	assert_non_null(strstr(refused("", 5, &e), "no reason given"));
}

static void instruction_past_the_program_is_not_believed(void **state)
{
	struct err e;

	(void)state;
	assert_null(strstr(refused("99: (95) exit\nR0 !read_ok\n", 5, &e), "line"));
	assert_non_null(strstr(refused("99999999999999999999: (95) exit\nR0 !read_ok", 5, &e), "R0 !read_ok"));
}

static void long_log_is_cut(void **state)
{
	char log[4096];
	struct err e;

	(void)state;
	memset(log, 'x', sizeof(log));
	log[sizeof(log) - 1] = '\0';
	assert_true(strlen(refused(log, 5, &e)) < 300);
}

/* ---- the kernel itself --------------------------------------------------------------- */

static int open_fails(struct handmade *h, struct err *e)
{
	struct k_run *k = NULL;
	int rc = k_open(&k, &h->img, NULL, e);

	assert_null(k);
	return rc;
}

static void verifier_refusal_names_the_line(void **state)
{
	struct handmade h;
	struct err e = { 0 };

	(void)state;
	HM_NEED_RIGHTS();
	hm_init(&h);
	HM_PROG(&h, IMG_PERF, I_MOV_IMM(R0, 0), I_MOV_IMM(R2, 7), I_LOAD(DW, R3, R2, 0), I_EXIT());
	assert_int_equal(open_fails(&h, &e), -TALLY_EVERIFY);
	assert_non_null(strstr(e.text, "line 102: the kernel refused this: R2 invalid mem access"));
}

/* A walk of 600,000 instructions, which takes a tenth of a second at least. */
static void slow_program(struct handmade *h)
{
	hm_init(h);
	HM_PROG(h, IMG_TEST, I_MOV_IMM(R1, 0), I_ALU_IMM(ADD, R1, 1), I_JMP_IMM(JLT, R1, 300000, -2), HM_RETURN);
}

static void on_alarm(int sig)
{
	(void)sig;
}

static void load_ended_by_a_signal_is_not_told_as_refused(void **state)
{
	const struct itimerval often = { { 0, 5000 }, { 0, 5000 } }, never = { { 0, 0 }, { 0, 0 } };
	const struct sigaction act = { .sa_handler = on_alarm };
	struct sigaction was;
	struct handmade h;
	struct err e = { 0 };

	(void)state;
	HM_NEED_RIGHTS();
	slow_program(&h);
	sigaction(SIGALRM, &act, &was);
	setitimer(ITIMER_REAL, &often, NULL);
	assert_int_equal(open_fails(&h, &e), -TALLY_EIO);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &was, NULL);
	assert_string_equal(e.text, "interrupted: a signal came while the kernel checked program hand made");
}

static volatile int load_stop;

static void on_alarm_stop(int sig)
{
	(void)sig;
	load_stop = 1;
}

/* The signal comes 10 ms after the start, when a walk would be tried again. */
static void interrupt_at_the_begin_of_a_slow_load_takes_effect_at_once_and_not_after_it(void **state)
{
	const struct itimerval once = { .it_value = { 0, 10000 } };
	const struct sigaction act = { .sa_handler = on_alarm_stop };
	const struct k_run_opts o = { .stop = &load_stop };
	struct k_run *k = NULL;
	struct sigaction was;
	struct handmade h;
	struct err e = { 0 };

	(void)state;
	HM_NEED_RIGHTS();
	slow_program(&h);
	sigaction(SIGALRM, &act, &was);
	setitimer(ITIMER_REAL, &once, NULL);
	assert_int_equal(k_open(&k, &h.img, &o, &e), -TALLY_EIO);
	assert_string_equal(e.text, "interrupted: a signal came while the kernel checked program hand made");
	/* and one that came between two loads is heard by the next */
	memset(&e, 0, sizeof(e));
	assert_int_equal(k_open(&k, &h.img, &o, &e), -TALLY_EIO);
	assert_string_equal(e.text, "interrupted: a signal came while the kernel checked program hand made");
	assert_null(k);
	sigaction(SIGALRM, &was, NULL);
	load_stop = 0;
}

static void too_large_program_names_a_line_of_the_script_and_not_0(void **state)
{
	struct handmade h;
	struct err e = { 0 };

	(void)state;
	HM_NEED_RIGHTS();
	hm_init(&h);
	HM_PROG(&h, IMG_TEST, I_MOV_IMM(R1, 0), I_ALU_IMM(ADD, R1, 1), I_JMP_IMM(JLT, R1, 600000, -2), HM_RETURN);
	h.line[0] = h.line[3] = h.line[4] = 0; /* glue */
	h.line[2] = 101;
	assert_int_equal(open_fails(&h, &e), -TALLY_EVERIFY);
	assert_non_null(strstr(e.text, "line 101: program hand made is too large for the kernel's verifier"));
}

static void the_line_of_a_too_large_program_is_the_one_with_most_instructions_in_all(void **state)
{
	struct handmade h;
	struct err e = { 0 };

	(void)state;
	HM_NEED_RIGHTS();
	hm_init(&h);
	HM_PROG(&h, IMG_TEST, I_MOV_IMM(R1, 0), I_ALU_IMM(ADD, R1, 1), I_ALU_IMM(ADD, R1, 1), I_ALU_IMM(ADD, R1, 1),
		I_ALU_IMM(ADD, R1, 1), I_JMP_IMM(JLT, R1, 600000 * 4, -5), HM_RETURN);
	memcpy(h.line, (const uint32_t[]){ 5, 5, 9, 9, 9, 5, 5, 0 }, 8 * sizeof(h.line[0]));
	assert_int_equal(open_fails(&h, &e), -TALLY_EVERIFY);
	assert_non_null(strstr(e.text, "line 5: program hand made is too large for the kernel's verifier"));
}

static void glue_is_named_by_the_line_beside_it(void **state)
{
	uint32_t line[4] = { 0, 7, 0, 9 };
	struct img_prog p = { .name = "BEGIN", .line = line, .nins = 4 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(load_refused(&p, "2: (95) exit\nR0 !read_ok\n", &e), -TALLY_EVERIFY);
	assert_non_null(strstr(e.text, "line 7: "));
	assert_int_equal(load_refused(&p, "0: (95) exit\nR0 !read_ok\n", &e), -TALLY_EVERIFY);
	assert_non_null(strstr(e.text, "line 7: "));
}

static void map_that_is_not_there_is_refused(void **state)
{
	struct handmade h;
	struct err e = { 0 };

	(void)state;
	hm_init(&h);
	HM_PROG(&h, IMG_PERF, I_LD_MAP(R1, 3), I_LD64_HI(0), HM_RETURN);
	assert_int_equal(open_fails(&h, &e), -TALLY_EINVAL);
	assert_string_equal(e.text, "instruction 0: there is no map 3");
}

static void constants_that_look_like_maps_are_left_alone(void **state)
{
	struct handmade h;
	struct err e = { 0 };
	struct k_run *k;

	(void)state;
	HM_NEED_RIGHTS();
	hm_init(&h);
	HM_PROG(&h, IMG_TEST, I_LD64_LO(R1, 0x1800000018), I_LD64_HI(0x1800000018), HM_RETURN);
	assert_int_equal(k_open(&k, &h.img, NULL, &e), 0);
	assert_int_equal(k_test_run(k, 0, &e), 0);
	assert_int_equal(k_test_run(k, 1, &e), -TALLY_EINVAL);
	k_close(k);
}

/* What the program leaves in its first map, with its constants made offsets; skips where the kernel has no types. */
static uint64_t run_with_offsets(struct handmade *h, struct img_reloc *reloc, uint32_t nrelocs)
{
	struct err e = { 0 };
	struct k_run *k;
	uint32_t key = 0;
	uint64_t value[1];

	h->prog[0].reloc = reloc;
	h->prog[0].nrelocs = nrelocs;
	if (k_open(&k, &h->img, NULL, &e) < 0) {
		if (!strstr(e.text, "/sys/kernel/btf/vmlinux"))
			fail_msg("%s", e.text);
		print_message("# skipped: %s\n", e.text);
		skip();
	}
	assert_int_equal(k_test_run(k, 0, &e), 0);
	assert_int_equal(k_maps(k).ops->lookup(k_maps(k).maps, 0, &key, value), 0);
	k_close(k);
	return value[0];
}

/* Reads the tracer's own real_parent->tgid through offsets of this kernel. */
static void fields_of_kernel_structs_are_found(void **state)
{
	static struct img_reloc reloc[] = { { 3, "task_struct", "tgid" } };
	struct handmade h;

	(void)state;
	HM_NEED_RIGHTS();
	hm_init(&h);
	hm_map(&h, IMG_ARRAY, IMG_GLOBALS, 4, 8, 1);
	HM_PROG(&h, IMG_TEST, I_CALL(get_current_task), I_STORE_IMM(DW, R10, -8, 0), I_MOV_REG(R3, R0),
		I_ALU_IMM(ADD, R3, 0), I_MOV_REG(R1, R10), I_ALU_IMM(ADD, R1, -8), I_MOV_IMM(R2, 4),
		I_CALL(probe_read_kernel), I_CALL(get_current_pid_tgid), I_ALU_IMM(RSH, R0, 32),
		I_LOAD(DW, R2, R10, -8), I_ALU_REG(SUB, R0, R2), I_LD_MAP_VALUE(R1, 0), I_RAW(0, 0, 0, 0, 0),
		I_ALU_IMM(ADD, R0, 1), I_STORE(DW, R1, 0, R0), HM_RETURN);
	assert_int_equal(run_with_offsets(&h, reloc, COUNT(reloc)), 1); /* the field was the thread group id */
}

static void field_that_is_not_there_is_refused(void **state)
{
	static struct img_reloc reloc[] = { { 1, "task_struct", "no_such_field" } };
	struct handmade h;
	struct err e = { 0 };

	(void)state;
	HM_NEED_RIGHTS();
	hm_init(&h);
	HM_PROG(&h, IMG_TEST, I_MOV_IMM(R0, 0), I_ALU_IMM(ADD, R0, 0), I_EXIT());
	h.prog[0].reloc = reloc;
	h.prog[0].nrelocs = 1;
	assert_int_equal(open_fails(&h, &e), -TALLY_ENOTSUP);
	assert_true(strstr(e.text, "no_such_field") || strstr(e.text, "/sys/kernel/btf/vmlinux"));
}

/* A field at the begin of its struct is as good as any: the constant stays what it was. */
static void field_at_the_begin_of_its_struct_is_found(void **state)
{
	static struct img_reloc reloc[] = { { 1, "list_head", "next" }, { 2, "list_head", "prev" } };
	struct handmade h;

	(void)state;
	HM_NEED_RIGHTS();
	hm_init(&h);
	hm_map(&h, IMG_ARRAY, IMG_GLOBALS, 4, 8, 1);
	HM_PROG(&h, IMG_TEST, I_MOV_IMM(R2, 0), I_ALU_IMM(ADD, R2, 100), I_ALU_IMM(ADD, R2, 0), I_LD_MAP_VALUE(R1, 0),
		I_RAW(0, 0, 0, 0, 0), I_STORE(DW, R1, 0, R2), HM_RETURN);
	assert_int_equal(run_with_offsets(&h, reloc, COUNT(reloc)), 100 + 0 + 8);
}

static void field_for_an_instruction_past_the_program_is_refused(void **state)
{
	static struct img_reloc reloc[] = { { 2, "task_struct", "tgid" } };
	struct handmade h;
	struct err e = { 0 };

	(void)state;
	HM_NEED_RIGHTS();
	hm_init(&h);
	HM_PROG(&h, IMG_TEST, I_MOV_IMM(R0, 0), I_EXIT());
	h.prog[0].reloc = reloc;
	h.prog[0].nrelocs = COUNT(reloc);
	assert_true(open_fails(&h, &e) < 0);
	assert_true(!strcmp(e.text, "there is no instruction 2") || strstr(e.text, "/sys/kernel/btf/vmlinux"));
}

/* In a name space of its own, where the kernel's types are nowhere or are none. 77: that can't be had here. */
static int open_without_types(struct handmade *h, const char *text)
{
	static const char want[] = "this kernel has no type information (BTF: /sys/kernel/btf/vmlinux)";
	struct err e = { 0 };
	struct k_run *k = NULL;
	int fd, rc;

	if (unshare(CLONE_NEWNS) < 0 || mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", "/sys/kernel/btf", "tmpfs", 0, NULL) < 0)
		return 77;
	fd = text ? open("/sys/kernel/btf/vmlinux", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
	if (fd >= 0 && write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return 77;
	close(fd);
	errno = EMFILE; /* of a call long ago */
	rc = k_open(&k, &h->img, NULL, &e);
	if (rc == 0) /* they are found elsewhere */
		return 77;
	return rc == -TALLY_ENOTSUP && !strncmp(e.text, want, sizeof(want) - 1) ? 0 : 1;
}

static void types_that_are_none_are_told_and_no_error_of_before(void **state)
{
	static const char *const texts[] = { "no types", NULL };
	static struct img_reloc reloc[] = { { 1, "list_head", "prev" } };
	struct handmade h;

	(void)state;
	HM_NEED_RIGHTS();
	hm_init(&h);
	HM_PROG(&h, IMG_TEST, I_MOV_IMM(R0, 0), I_ALU_IMM(ADD, R0, 0), I_EXIT());
	h.prog[0].reloc = reloc;
	h.prog[0].nrelocs = COUNT(reloc);
	for (size_t i = 0; i < COUNT(texts); i++) {
		int status;
		const pid_t pid = fork();

		if (!pid)
			_exit(open_without_types(&h, texts[i]));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		if (WEXITSTATUS(status) == 77) {
			print_message("# skipped: nothing may be mounted over the kernel's types here\n");
			skip();
		}
		assert_int_equal(WEXITSTATUS(status), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(last_instruction_of_the_log_is_the_culprit),
		cmocka_unit_test(reason_that_names_an_instruction_is_used),
		cmocka_unit_test(log_without_instruction_names_the_program),
		cmocka_unit_test(instruction_past_the_program_is_not_believed),
		cmocka_unit_test(long_log_is_cut),
		cmocka_unit_test(verifier_refusal_names_the_line),
		cmocka_unit_test(load_ended_by_a_signal_is_not_told_as_refused),
		cmocka_unit_test(interrupt_at_the_begin_of_a_slow_load_takes_effect_at_once_and_not_after_it),
		cmocka_unit_test(too_large_program_names_a_line_of_the_script_and_not_0),
		cmocka_unit_test(the_line_of_a_too_large_program_is_the_one_with_most_instructions_in_all),
		cmocka_unit_test(glue_is_named_by_the_line_beside_it),
		cmocka_unit_test(map_that_is_not_there_is_refused),
		cmocka_unit_test(constants_that_look_like_maps_are_left_alone),
		cmocka_unit_test(fields_of_kernel_structs_are_found),
		cmocka_unit_test(field_that_is_not_there_is_refused),
		cmocka_unit_test(field_at_the_begin_of_its_struct_is_found),
		cmocka_unit_test(types_that_are_none_are_told_and_no_error_of_before),
		cmocka_unit_test(field_for_an_instruction_past_the_program_is_refused),
	};

	return cmocka_run_group_tests_name("kernel: load", tests, NULL, NULL);
}
