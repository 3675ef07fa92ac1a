/*
 * plugin_test_int.h: an emulator of a hundred lines, which the plugin takes for QEMU.  Included once by each test
 * program.
 *
 * One vCPU, a few registers, 128 KiB of memory from `base` on, blocks of three instructions.
 */
#ifndef TALLY_QEMU_PLUGIN_TEST_INT_H
#define TALLY_QEMU_PLUGIN_TEST_INT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "qemu/qemu_int.h"

#define MEMORY 0x20000u
#define REGISTERS 9

extern int qemu_plugin_version;
int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);

struct qemu_plugin_insn {
	uint8_t bytes[4];
	uint64_t pc;
	void (*exec)(unsigned, void *);
	void (*mem)(unsigned, qemu_plugin_meminfo_t, uint64_t, void *);
	void *exec_arg, *mem_arg;
};
struct qemu_plugin_tb {
	struct qemu_plugin_insn insn[3];
};
static struct fake_qemu {
	qemu_any_cb init, translate, flush, end;
	void *arg, *site;
	void (*exec)(unsigned, void *); /* of the last instruction with a callback */
	unsigned hooked;                /* how many there are */
	int flags;                      /* that are expected */
	unsigned writes;                /* to memory */
	bool little, refuse_write;
	const char *const *names;                 /* of registers */
	uint64_t r[REGISTERS], pc, base, touched; /* touched: the highest address */
	uint8_t memory[MEMORY];
	jmp_buf went_on;
} m;

/* glib's arrays: a plugin has one of each kind at a time. */
static struct {
	GArray of_registers;
	GByteArray of_bytes;
	bool listed, live;
} arrays;
static qemu_plugin_reg_descriptor descriptors[REGISTERS];
static uint8_t array_bytes[8192];

/* What QEMU calls: by the version that the plugin has. */
static inline void emulator_init(void)
{
	((void (*)(unsigned, void *))m.init)(0, m.arg);
}

static inline void emulator_translate(struct qemu_plugin_tb *tb)
{
	if (qemu_plugin_version >= 7)
		((void (*)(struct qemu_plugin_tb *, void *))m.translate)(tb, m.arg);
	else
		((void (*)(qemu_plugin_id_t, struct qemu_plugin_tb *))m.translate)(1, tb);
}

static inline void emulator_flush(void)
{
	if (qemu_plugin_version >= 7)
		((void (*)(void *))m.flush)(m.arg);
	else
		((void (*)(qemu_plugin_id_t))m.flush)(1);
}

static inline void emulator_end(void)
{
	emulator_flush();
	if (qemu_plugin_version >= 7)
		((void (*)(void *))m.end)(m.arg);
	else
		((void (*)(qemu_plugin_id_t, void *))m.end)(1, m.arg);
	assert_int_equal(mem_live(), 0);
	assert_false(arrays.live || arrays.listed);
}

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_any_cb cb, void *arg)
{
	(void)id;
	m.init = cb;
	m.arg = arg;
}

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_any_cb cb, void *arg)
{
	(void)id;
	m.translate = cb;
	m.arg = arg;
}

void qemu_plugin_register_flush_cb(qemu_plugin_id_t id, qemu_any_cb cb, void *arg)
{
	(void)id, (void)arg;
	m.flush = cb;
}

void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_any_cb cb, void *arg)
{
	(void)id, (void)arg;
	m.end = cb;
}

void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, void (*cb)(unsigned, void *), int flags,
					    void *arg)
{
	assert_int_equal(flags, m.flags);
	insn->exec = m.exec = cb;
	insn->exec_arg = m.site = arg;
	m.hooked++;
}

void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      void (*cb)(unsigned, qemu_plugin_meminfo_t, uint64_t, void *), int flags,
				      int which, void *arg)
{
	assert_int_equal(flags, QEMU_NO_REGS);
	assert_int_equal(which, QEMU_MEM_RW);
	insn->mem = cb;
	insn->mem_arg = arg;
}

/* Of the test: bits 2:0 the size, bit 8 a store. */
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info)
{
	return info >> 8;
}

unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info)
{
	return info & 7;
}

int qemu_plugin_num_vcpus(void)
{
	return 1;
}

size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn)
{
	return sizeof(insn->bytes);
}

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb)
{
	return COUNT(tb->insn);
}

struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i)
{
	return (struct qemu_plugin_insn *)&tb->insn[i];
}

size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t n)
{
	memcpy(to, insn->bytes, n);
	return n;
}

uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn)
{
	return insn->pc;
}

GArray *qemu_plugin_get_registers(void)
{
	assert_false(arrays.listed);
	for (size_t i = 0; i < REGISTERS; i++)
		descriptors[i] = (qemu_plugin_reg_descriptor){ (void *)&m.r[i], m.names[i], "of the test", false };
	arrays.of_registers = (GArray){ (char *)descriptors, REGISTERS };
	arrays.listed = true;
	return &arrays.of_registers;
}

char *g_array_free(GArray *a, int with_data)
{
	assert_true(with_data && arrays.listed && a == &arrays.of_registers);
	arrays.listed = false;
	return NULL;
}

GByteArray *g_byte_array_new(void)
{
	assert_false(arrays.live);
	arrays.live = true;
	arrays.of_bytes = (GByteArray){ array_bytes, 0 };
	return &arrays.of_bytes;
}

GByteArray *g_byte_array_set_size(GByteArray *a, unsigned n)
{
	assert_true(arrays.live && n <= sizeof(array_bytes));
	a->len = n;
	return a;
}

uint8_t *g_byte_array_free(GByteArray *a, int with_data)
{
	assert_true(with_data && arrays.live && a == &arrays.of_bytes);
	arrays.live = false;
	return NULL;
}

bool qemu_plugin_read_register(struct qemu_plugin_register *r, GByteArray *to)
{
	uint64_t v = m.little ? *(uint64_t *)r : __builtin_bswap64(*(uint64_t *)r);
	unsigned n = to->len;

	g_byte_array_set_size(to, n + 8); /* the real one appends, too */
	memcpy(to->data + n, &v, 8);
	return true;
}

bool qemu_plugin_write_register(struct qemu_plugin_register *r, GByteArray *from)
{
	uint64_t v;

	assert_int_equal(from->len, 8);
	memcpy(&v, from->data, 8);
	*(uint64_t *)r = m.little ? v : __builtin_bswap64(v);
	return true;
}

static bool is_memory(uint64_t address, size_t n)
{
	m.touched = address + n > m.touched ? address + n : m.touched;
	return address >= m.base && address - m.base < MEMORY && n <= MEMORY - (address - m.base);
}

int qemu_plugin_read_memory_hwaddr(uint64_t address, GByteArray *to, size_t n)
{
	if (!is_memory(address, n))
		return 4;
	g_byte_array_set_size(to, (unsigned)n);
	memcpy(to->data, m.memory + (address - m.base), n);
	return 0;
}

int qemu_plugin_write_memory_hwaddr(uint64_t address, GByteArray *from)
{
	m.writes++;
	if (m.refuse_write || !is_memory(address, from->len))
		return 4;
	memcpy(m.memory + (address - m.base), from->data, from->len);
	return 0;
}

void qemu_plugin_set_pc(uint64_t pc)
{
	m.pc = pc;
	longjmp(m.went_on, 1);
}

/* ---- options ------------------------------------------------------------------------------------------ */

struct option_row {
	int line;
	const char *word, *said; /* said: the words of the error, "" where the option is taken */
};

/* Each row alone: the error has these words, or, if `whole`, no others. */
static inline void options_say(int (*options)(struct qemu_options *, int, char *const *, struct err *),
			       const struct option_row *row, size_t n, bool whole)
{
	for (size_t i = 0; i < n; i++) {
		struct qemu_options o;
		struct err e = { 0 };
		char *word = (char *)row[i].word;
		const int rc = options(&o, 1, &word, &e);

		if (rc > 0 || (rc == 0) != !*row[i].said ||
		    (whole ? strcmp(e.text, row[i].said) != 0 : !strstr(e.text, row[i].said)))
			fail_msg("line %d: said '%s'", row[i].line, e.text);
		if (rc == 0)
			qemu_options_free(&o);
	}
	assert_int_equal(mem_live(), 0);
}

#endif
